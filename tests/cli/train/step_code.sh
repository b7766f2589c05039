#!/bin/sh
# The code of a step: C99 without a warning, in one function or in two with gradients in a block, with inference and
# with weights in and out; the bits are those of `arenac train`. usage: step_code.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
"$py" "$src/tests/cli/train/net_model.py" "$src" || die "net_model.py"
"$py" -c 'import numpy as n; n.load("x.npy").tofile("x.bin"); n.load("y32.npy").tofile("y.bin")'
"$py" -c 'import numpy as n; n.save("x4.npy", n.load("x.npy")[:4])'
t="--loss cross_entropy --batch 8 --exact"

# code FOLDER OPTION...: net.c and net.h of a step
code() {
    dir=$1
    shift
    mkdir "$dir"
    # shellcheck disable=SC2086
    "$arenac" compile -q "$net.onnx" --train adam $t -t native --name net -o "$dir/net.c" "$@" || fail "compile $*"
}
# program FOLDER FLAG...: it runs, and has the bits of want.npz, want.csv
program() {
    dir=$1
    shift
    "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -O1 -march=native -ffp-contract=off "-I$dir" "$@" \
        "$src/tests/cli/train/step_main.c" -o step -lm || { fail "cc $dir $*"; return; }
    ./step got.txt || fail "the program of $dir ends with $?"
    "$py" "$src/tests/cli/train/step_check.py" got.txt want.csv want.npz y/0.npy || fail "$dir $*"
}
# trained OPTION...: want.npz, want.csv, y/0.npy
trained() {
    for to in npz onnx; do
        # shellcheck disable=SC2086
        "$arenac" train "$net.onnx" --data x=x.npy --target y.npy --optimizer adam --lr 0.01 --steps 5 $t "$@" \
            -o want.$to --log want.csv >out || fail "train $*"
    done
    "$arenac" run -q want.onnx -i x=x4.npy --output-dir y >out || fail "inference of $*"
}
net=net
trained
code early
program early early/net.c
code late --update late
program late late/net.c
code budget --budget 40K
program budget budget/net.c
expect 0 '' "$arenac" compile -q net.onnx --train adam --loss cross_entropy --batch 8 -t native --prove -o proven.c
if have_llvm; then
    code object --update late --emit o,h
    program object object/net.o
fi
trained --micro-batch 2
code micro --micro-batch 2 --emit c,h,rt
program micro -DMICRO=2 micro/net.c micro/arn_tree.c
if have_mpi; then
    OMPI_CC=${CC:-cc} mpicc -std=c99 -Wall -Wextra -Werror -O1 -march=native -ffp-contract=off -Imicro -DMICRO=2 -DMPI \
        "$src/tests/cli/train/step_main.c" micro/net.c micro/arn_tree.c micro/arn_mpi.c -o step -lm || fail "mpicc"
    for n in 1 2 4; do
        rm -f got.txt
        $ranks $n ./step got.txt || fail "$n processes"
        "$py" "$src/tests/cli/train/step_check.py" got.txt want.csv want.npz y/0.npy || fail "$n processes"
    done
fi

# dropout: numbers go on from step to step, and inference has none
net=drop
trained
code drop
program drop drop/net.c
trained --micro-batch 2
code parts --micro-batch 2 --emit c,h,rt
program parts -DMICRO=2 parts/net.c parts/arn_tree.c
if have_mpi; then
    OMPI_CC=${CC:-cc} mpicc -std=c99 -Wall -Wextra -Werror -O1 -march=native -ffp-contract=off -Iparts -DMICRO=2 -DMPI \
        -DDROPOUT "$src/tests/cli/train/step_main.c" parts/net.c parts/arn_tree.c parts/arn_mpi.c -o step -lm ||
        fail "mpicc"
    $ranks 3 ./step got.txt || fail "3 processes with dropout"
    "$py" "$src/tests/cli/train/step_check.py" got.txt want.csv want.npz y/0.npy || fail "3 processes with dropout"
fi

# without inference, the step is all
net=net
code alone --inference off
! grep -q 'net_run_step\|net_in3' alone/net.h || fail "there is inference"
! grep -q 'NET_GRADIENTS' early/net.h || fail "there is a block of gradients"

# firmware: in the text that its rules ask for
for target in cortex-m7 rv32imac; do
    "$arenac" compile -q net.onnx --train sgd --loss cross_entropy --batch 1 --update late -t $target -o $target.c ||
        fail $target
done
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    arm-none-eabi-gcc -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -std=c99 -Wall -Wextra -Werror -O2 \
        -c cortex-m7.c -o m7.o || fail "the code for cortex-m7"
fi
exit $bad
