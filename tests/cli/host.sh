#!/bin/sh
# compile --host: the generated API on DLPack tensors does what runtime/arn_host.h says, with each way to keep weights, under
# sanitizers, with gcc and clang.
# usage: host.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
compilers have_sanitizers
[ -n "$cc" ] || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Werror"
for weights in rodata asm blob; do
    mkdir "$tmp/$weights"
    cd "$tmp/$weights"
    "$arenac" compile -q --host "$src/tests/host/corners.ag" --name corners --weights $weights -o corners.c
    for c in $cc; do
        # shellcheck disable=SC2086
        $c $flags -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -I. -I"$src/runtime" corners.c \
            "$src/tests/host/dl_test.c" "$src/runtime/arn_host.c" "$src/runtime/arn_rt.c" -o t
        if [ $weights = blob ]; then ./t corners.bin; else ./t; fi
    done
done
grep -q 'corners_run_dl' "$tmp/asm/corners.h"
if "$arenac" plan --host "$src/tests/host/corners.ag" 2>"$tmp/err"; then echo "plan took --host"; exit 1; fi
echo "host API: as documented"
