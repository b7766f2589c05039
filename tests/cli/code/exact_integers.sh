#!/bin/sh
# Operators on integers have the same loops with --exact and without, for targets that fuse products and sums and for
# those that do not: floats, which they use where that is proven equal, are as the proof has them.
# usage: exact_integers.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
n=0
for m in "$src"/tests/golden/ops/*int8*.ag "$models"/*int8*.tflite; do
    for t in x86-64-v2 x86-64-v3 x86-64-v4-vnni aarch64 rv64gcv cortex-m7; do
        for exact in "" --exact; do
            # shellcheck disable=SC2086
            "$arenac" compile -q "$m" -t $t $exact --emit loops -o "loops$exact" || fail "$m for $t $exact"
        done
        cmp loops loops--exact || fail "$m for $t: --exact changes its loops"
        n=$((n + 1))
    done
done
[ $n -ge 60 ] || fail "only $n were compared"
