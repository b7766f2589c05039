#!/bin/sh
# compile --host: the generated API on DLPack tensors works as runtime/arn_host.h documents, with each way to store
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

# the example in C++, with the files of the runtime that such a model needs and no others
have c++ g++ || exit 0
mkdir made
"$arenac" compile -q "$models/digits_int8.tflite" --host --emit c,h,rt --name net -o made/net.c
cd made
[ "$(echo *)" = "arn_dlpack.h arn_host.c arn_host.h arn_model.def arn_rt.c arn_rt.h net.c net.h" ] ||
    die "files: $(echo *)"
cc -c net.c arn_host.c arn_rt.c
c++ -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Werror -I. "$src/examples/cpp/main.cpp" \
    net.o arn_host.o arn_rt.o -o main
tail -c 64 "$models/digits_int8.in0.0.npy" >x.bin
[ "$(./main x.bin)" = "class $(tail -c 10 "$models/digits_int8.out0.0.npy" | od -An -v -w1 -td1 |
    awk 'NR == 1 || $1 > top { top = $1; at = NR - 1 } END { print at }')" ] || die "$(./main x.bin)"
! ./main /dev/null 2>err.txt || die "an image without bytes"
grep -q 'does not hold an image' err.txt
