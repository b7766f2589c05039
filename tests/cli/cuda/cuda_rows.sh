#!/bin/sh
# Random products of few rows on a GPU, in f32, i8, f16 and bf16, depthwise convolutions and softmax: the evaluator, the
# emulation and its check of every access have the same bits; where sums are exact, so has C.
# usage: cuda_rows.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
require python3 python3
seed=${ARENAC_SEED:-1}
count=${ARENAC_COUNT:-5}
for kind in f32 i8 f16 bf16 depthwise softmax; do
    python3 "$src/tests/cuda/rows.py" "$seed" "$count" $kind >$kind.ag
    for backend in "eval -t cuda-sm90" "cuda-race -t cuda-sm80" c; do
        [ "$backend" = c ] && { [ $kind = f32 ] || [ $kind = depthwise ]; } && continue
        to=${backend%% *}
        # shellcheck disable=SC2086
        "$arenac" run -q $kind.ag --backend $backend --random "$seed" --output-dir "$to" || die "$kind $backend"
        for f in eval/*.npy; do
            cmp "$f" "$to/${f#eval/}" || die "$kind, seed $seed: $backend has not the bits of the evaluator"
        done
    done
    rm -r eval cuda-race
done
# Weights and values of 16 bits stay so: half of the bytes, and the operators of f32
for kind in f16 f32; do
    cat >$kind.ag <<EOF
graph two {
  input x: $kind[1,256]
  const w: $kind[512,256] = random 3
  const v: $kind[512,128] = random 4
  xc: f32[1,256] = cast(x)
  wc: f32[512,256] = cast(w)
  d: f32[1,512] = fully_connected(xc, wc) act=relu
  h: $kind[1,512] = cast(d) to=$kind
  hc: f32[1,512] = cast(h)
  vc: f32[512,128] = cast(v)
  e: f32[1,128] = batch_matmul(hc, vc)
  y: $kind[1,128] = cast(e) to=$kind
  output y
}
EOF
    "$arenac" plan -q --json $kind.ag -t cuda-sm90 >$kind.json
    [ "$(grep -c '"blocks"' $kind.json)" = 2 ] || die "two products of $kind are not two launches"
    sed -n 's/.*"moved_bytes": *\([0-9]*\).*/\1/p' $kind.json | awk '{ n += $1 } END { print n }' >$kind
done
[ "$(($(cat f16) * 2))" = "$(cat f32)" ] || die "f16 moves $(cat f16) bytes, f32 $(cat f32): expected half of them"
