#!/bin/sh
# compile --host: the generated API on DLPack tensors does what runtime/arn_host.h says, with each way to keep
# weights, under sanitizers, with gcc and clang. usage: host.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
compilers have_sanitizers
[ -n "$cc" ] || exit 77
flags="-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Werror -g -O1"
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
runtime="$src/runtime"
for weights in rodata asm blob; do
    "$arenac" compile -q --host "$src/tests/host/corners.ag" --name corners --weights $weights -o corners.c
    for c in $cc; do
        # shellcheck disable=SC2086
        $c $flags $sanitize -I. -I"$runtime" corners.c "$src/tests/host/dl_test.c" "$runtime/arn_host.c" \
            "$runtime/arn_rt.c" -o t
        if [ $weights = blob ]; then ./t corners.bin; else ./t; fi
    done
done
grep -q 'corners_run_dl' corners.h
