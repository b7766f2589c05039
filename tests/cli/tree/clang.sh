#!/bin/sh
# clang compiles every file of the tool without a warning, with the flags of CMakeLists.txt. Files of LLVM, MPI and
# Windows are left out: their headers are often missing. usage: clang.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
command -v clang >/dev/null || { missing clang clang; exit 77; }
made=$(dirname "$arenac")/made
cd "$src" || exit 1
flags=$(sed -n '/^target_compile_options(arenac_flags INTERFACE -ffp/,/)/p' CMakeLists.txt | grep -o ' -[fW][^ )]*')
[ "$(echo "$flags" | wc -l)" -gt 10 ] || die "few flags found in CMakeLists.txt: the check itself is broken"
# shellcheck disable=SC2086
find $folders \( -path codegen/llvm -o -path 'runtime/*/*' \) -prune -o -name '*.c' ! -name sys_windows.c -print |
    xargs grep -L '#include <mpi\.h>' >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 700 ] || die "only $(wc -l <"$tmp/files") files found: the check itself is broken"
# shellcheck disable=SC2086
xargs -P "$(nproc)" -n 50 clang -std=c11 -D_GNU_SOURCE -DARENAC_VERSION='"0"' -I. -I"$made" $flags -Werror \
    -fsyntax-only <"$tmp/files" >"$tmp/said" 2>&1 || fail "clang refuses:
$(grep -E 'error|warning' "$tmp/said" | head -n 20)"
