#!/bin/sh
# Weights after a training have the same bits for 1 and 2 threads, 1, 2 and 4 processes, and under budgets: a network of
# the tests, and two of ../shared/training. usage: same_bits.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
"$py" "$src/tests/cli/train/net_model.py" "$src" || die "net_model.py"

# bits MODEL X Y STEPS PROCESSES
bits() {
    model=$1 x=$2 y=$3 steps=$4 processes=$5 micro=2
    t="--data x=$x --target $y --loss cross_entropy --optimizer adam --lr 0.002 --batch 8 --steps $steps"
    one() { # OPTION...: got.npz, log.csv
        # shellcheck disable=SC2086
        "$arenac" train "$model" $t --micro-batch $micro -o got.npz --log log.csv "$@" >out 2>err
    }
    same() {
        cmp want.npz got.npz && cmp want.csv log.csv || fail "$model has other bits: $*"
    }
    one || { fail "$model: $(cat err)"; return; }
    mv got.npz want.npz
    mv log.csv want.csv
    all=$(sed -n 's/.* peak_bytes=//p' out)
    one --threads 2 || fail "$model, threads: $(cat err)"
    same "two threads"
    one --budget $((all * 96 / 100)) || fail "$model, a budget: $(cat err)"
    same "a budget"
    have_mpi >none || return 0
    for n in $processes; do
        # shellcheck disable=SC2086
        $ranks $n "$arenac" train "$model" $t --micro-batch "$micro" --mpi -o got.npz --log log.csv >out 2>err ||
            fail "$model, $n processes: $(cat err)"
        same "$n processes"
    done
}
bits drop.onnx x.npy y.npy 30 "1 2 4"
have_mpi || :
if have_shared training/models; then
    for m in lenet5 kws_dscnn; do
        f=$shared/training/models/$m
        bits "$f/model.onnx" "$f/x.npy" "$f/y.npy" 4 "2 4"
    done
fi
exit $bad
