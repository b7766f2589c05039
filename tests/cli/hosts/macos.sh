#!/bin/sh
# Every C file of the tool and of the runtime compiles for macOS on both processors, with the headers that Zig's
# compiler brings (pip install ziglang), and the system's file there links. usage: macos.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require clang clang
require python3 python3
zig=$(python3 -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))' 2>/dev/null) ||
    { echo "skipped: the Python package ziglang is missing: pip install ziglang"; exit 77; }
made=$(dirname "$arenac")/made
[ -d "$made" ] || { echo "skipped: $made is missing: build with CMake"; exit 77; }
cd "$src" || exit 1
# shellcheck disable=SC2086
find $folders -name '*.c' |
    grep -vE '^(codegen/llvm|runtime/(mpi|board|steps))/|/arn_capsule.c$|/sys_windows.c$' >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 500 ] || die "only $(wc -l <"$tmp/files") files: the check itself is broken"
check() { # TARGET FILES...
    target=$1
    shift
    clang --target="$target" -std=gnu11 -fsyntax-only -isystem "$zig/lib/libc/include/any-darwin-any" -I. -I"$made" \
        -Iruntime -D_GNU_SOURCE -DARENAC_VERSION='"0"' -DARENAC_LIBDIR='"lib"' -Wall -Wextra -Werror \
        -Wno-deprecated-declarations "$@"
}
# shellcheck disable=SC2046
check arm64-apple-macos12 $(cat "$tmp/files") >"$tmp/log" 2>&1 || fail "$(head -40 "$tmp/log")"
check x86_64-apple-macos12 base/sys/sys_posix.c base/hash/sha256.c codegen/targets.c runtime/arn_pool.c \
    runtime/arn_host.c >"$tmp/log" 2>&1 || fail "$(head -40 "$tmp/log")"
# a file of another system does not compile: the check sees the headers
! check arm64-apple-macos12 base/sys/sys_windows.c >"$tmp/log" 2>&1 || fail "sys_windows.c compiles for macOS"
for target in aarch64-macos x86_64-macos; do
    cat >"$tmp/main.c" <<'END'
#include "base/sys/sys.h"
int main(int argc, char **argv)
{
    ac_sys_main(&argc, &argv);
    return ac_sys_memory() == 0;
}
END
    HOME=$tmp python3 -m ziglang cc -target $target -I. "$tmp/main.c" base/sys/sys_posix.c base/sys/sys.c \
        -o "$tmp/linked" 2>"$tmp/log" || fail "$target does not link: $(head -20 "$tmp/log")"
done
