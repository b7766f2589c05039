#!/bin/sh
# release.sh - the files of a release: sources, checksums, notes and a bill of materials (SPDX 2.3, JSON).
# usage: release.sh [FOLDER: dist]. Files that lie in FOLDER already, as the wheels of wheel.sh, are listed with them.
# The version is that of CMakeLists.txt; what names another one, or a change that is not committed, is an error. The
# same commit gives the same bytes. Nothing is tagged or sent.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need git git gzip gzip python3 python3
mkdir -p "${1:-$root/dist}"
out=$(cd "${1:-$root/dist}" && pwd)
cd "$root"
version=$(sed -n 's/^project(arenac VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
wrong() {
    echo "release.sh: $*" >&2
    exit 1
}
[ "$version" ] || wrong "CMakeLists.txt has no version"
[ -z "$(git status --porcelain --untracked-files=no)" ] || wrong "there are changes that are not committed"
grep -q "arenac-llvm==$version\"" pyproject.toml || wrong "pyproject.toml does not require arenac-llvm==$version"
grep -q "^## $version" CHANGELOG.md || wrong "CHANGELOG.md has no section '## $version'"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
name=arenac-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$out/$name.tar.gz"
sed -n "/^## $version/,/^## /{ /^## /d; p; }" CHANGELOG.md >"$out/$name.notes.md"
rm -f "$out/SHA256SUMS" "$out/$name.spdx.json"
python3 scripts/sbom.py "$version" "$out" >"$out/.spdx"
mv "$out/.spdx" "$out/$name.spdx.json"
(cd "$out" && sha256sum -- *) >"$out/.sums"
mv "$out/.sums" "$out/SHA256SUMS"
cat "$out/SHA256SUMS"
