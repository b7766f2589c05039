#!/bin/sh
# --emit selftest: a program that proves a compiled model: C and object, several sets, streamed rows, states, a byte
# that is wrong; on the host, and on boards where cross compilers and QEMU are installed.
# usage: selftest.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
proves() { # NAME MODEL OPTION...: the program on this machine
    name=$1 model=$2
    shift 2
    "$arenac" compile -q "$model" --name net --emit c,h,selftest -o net "$@" || { fail "$name: compile"; return; }
    gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wmissing-prototypes -Werror -DNET_SELFTEST_MAIN net.c \
        net.selftest.c -o net || { fail "$name: gcc"; return; }
    expect 0 'net: all outputs are equal' ./net
}
require gcc gcc
proves plain "$models/digits_int8.tflite"
proves sets "$models/branch_int8.tflite" --vectors 3 --random 5
proves given "$models/branch_int8.tflite" --input "0=$models/branch_int8.in0.1.npy"
proves floats "$models/dsnet_f32.tflite" --vectors 2
proves firmware "$models/dsnet_int8.tflite" -t cortex-m4 --stripe auto
proves rows "$models/dsnet_int8.tflite" -t cortex-m4 --stripe auto --io rows --vectors 2
proves state "$src/tests/golden/c/state.ag" --vectors 3

# a byte that is wrong is found, whichever set it is in
"$arenac" compile -q "$models/digits_int8.tflite" --name net --emit c,h,selftest -o net --vectors 2
awk '/static const .* output0/ { out = 1 } out && /^ *-?[0-9]+,/ && !done && ++n == 2 {
        sub(/-?[0-9]+/, "99")
        done = 1
    }
    { print }' net.selftest.c >wrong.c
cmp -s wrong.c net.selftest.c && fail "nothing was changed"
gcc -DNET_SELFTEST_MAIN net.c wrong.c -o wrong && expect 100 'net: an output differs' ./wrong
expect 8 'selftest does not go with --host' "$arenac" compile -q "$models/digits_int8.tflite" --host -o host \
    --emit c,h,selftest

boards() { # TARGET...
    for t; do
        for kind in c o; do
            [ $kind = c ] || have_llvm || continue
            "$arenac" compile -q -t "$t" "$models/digits_int8.tflite" --name net --emit $kind,h,selftest -o net \
                --vectors 2
            python3 - "$src" "$t" net.$kind <<'END' || fail "$t $kind"
import sys
sys.path.insert(0, sys.argv[1] + "/bench")
import board
r = board.measure(board.read_boards()[sys.argv[2]], "net", sys.argv[3], "net.selftest.c", ".")
assert r["status"] == 0 and r["insns"] > 1000 and r["stack"] > 0 and r["code"] > 500, r
END
        done
    done
}
if have python3 python3; then
    ! have_arm || boards cortex-m0plus cortex-m4 cortex-m55
    ! have_rv32 || boards rv32imac rv32imac-zve32x
fi
exit $bad
