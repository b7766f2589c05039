#!/bin/sh
# The Debian packages: lintian finds no error, they unpack to a tool that works, with its backends, manual pages and
# completions. usage: package.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
case $build in *asan*) echo "skipped: the release build is what people install"; exit 77 ;; esac
require cpack cmake dpkg-deb dpkg gzip gzip dpkg-shlibdeps dpkg-dev file file
cpack --config "$build/CPackConfig.cmake" -B "$tmp/packages" >log.txt || { cat log.txt; die cpack; }
for p in packages/*.deb; do dpkg-deb -x "$p" root; done
[ -e packages/arenac-*.tar.gz ] || fail "no tarball"
m=$models/digits_int8
for backend in c $([ ! -e "$build/arenac-llvm.so" ] || echo llvm); do
    root/usr/bin/arenac run -q --backend $backend "$m.tflite" --input 0="$m.in0.0.npy" --compare 0="$m.out0.0.npy"
done
for f in share/man/man1/arenac-plan.1.gz share/man/man1/arenac-certcheck.1.gz share/bash-completion/completions/arenac \
    share/zsh/site-functions/_arenac share/fish/vendor_completions.d/arenac.fish \
    lib/cmake/arenac/arenac_add_model.cmake include/arenac.h share/doc/arenac/copyright \
    share/doc/arenac/changelog.Debian.gz; do
    [ -s "root/usr/$f" ] || fail "no $f"
done
for p in packages/*.deb; do dpkg-deb -f "$p" Description | head -1; done >summaries.txt
[ "$(sort -u summaries.txt | wc -l)" = "$(wc -l <summaries.txt)" ] || fail "two packages have one summary"
version=$("$arenac" plan --version | sed 's/arenac //')
[ "$(dpkg-deb -f packages/arenac_*.deb Version)" = "$version-1" ] || fail "another version than $version"
grep -q "^## $version" "$src/CHANGELOG.md" || fail "CHANGELOG.md has nothing of $version"
if have lintian lintian; then
    lintian --allow-root packages/*.deb >lintian.txt 2>&1 || true
    ! grep '^E:\|no-manual-page' lintian.txt || fail "lintian"
fi
exit $bad
