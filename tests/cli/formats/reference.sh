#!/bin/sh
# Every model here equals its stored reference on all sets: generated C (plain and for this machine), with poison, and
# the evaluator. usage: reference.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
n=0
for m in "$models"/*.tflite; do
    base=${m%.tflite}
    for set in 0 1 2; do
        for how in "--backend eval -t generic" "--backend c -t generic --poison" "--backend c"; do
            # shellcheck disable=SC2086
            "$arenac" run -q "$m" --input 0="$base.in0.$set.npy" --compare 0="$base.out0.$set.npy" $how ||
                die "$m set $set $how"
            n=$((n + 1))
        done
    done
done
for m in "$models"/*_int8.tflite; do # the loop schedules of other machines' integers: by four, by pairs, one at a time
    base=${m%.tflite}
    for t in x86-64-v4-vnni x86-64-v3 aarch64 aarch64-dotprod aarch64-sve256 rv64gcv wasm32; do
        "$arenac" run -q "$m" -t $t --backend eval --input 0="$base.in0.0.npy" --compare 0="$base.out0.0.npy" ||
            die "$m $t eval"
        n=$((n + 1))
    done
done
for set in 0 1 2; do # computed in numpy by models/make_gate.py
    "$arenac" run -q "$models/gate.ag" --input x="$models/gate.in0.$set.npy" --compare y="$models/gate.out0.$set.npy"
done
for seed in 1 2 3; do # the graph in text form: generated C equals the evaluator at every step, also for this machine
    for t in generic native; do
        "$arenac" run -t $t "$models/gate.ag" --random $seed --per-node --max-ulp 0 >/dev/null || die "gate.ag $t"
        n=$((n + 1))
    done
done
[ $n -ge 81 ] || die "only $n runs"
echo "$n runs equal"
