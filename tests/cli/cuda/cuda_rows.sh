#!/bin/sh
# Random products of few rows on a GPU, in f32, i8, f16 and bf16: the evaluator, the emulation and its check of every
# access have the same bits; where sums are exact, so has C. usage: cuda_rows.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
require python3 python3
seed=${ARENAC_SEED:-1}
count=${ARENAC_COUNT:-5}
for kind in f32 i8 f16 bf16; do
    python3 "$src/tests/cuda/rows.py" "$seed" "$count" $kind >$kind.ag
    for backend in "eval -t cuda-sm90" "cuda-race -t cuda-sm80" c; do
        [ "$backend" = c ] && [ $kind = f32 ] && continue
        to=${backend%% *}
        # shellcheck disable=SC2086
        "$arenac" run -q $kind.ag --backend $backend --random "$seed" --output-dir "$to" || die "$kind $backend"
        for f in eval/*.npy; do
            cmp "$f" "$to/${f#eval/}" || die "$kind, seed $seed: $backend has not the bits of the evaluator"
        done
    done
    rm -r eval cuda-race
done
