#!/bin/sh
# Random attentions: each is one operator on GPUs, with the values of the separate operators within rounding; kernels
# have the bits of the evaluator and no races; --skip and --exact keep the operators apart. A row that is masked
# altogether gives what they give. usage: cuda_attention.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
cat >blind.ag <<'EOF2'
graph blind {
  input q: f32[3,8]
  input k: f32[5,8]
  const m: f32[3,5] = [-inf,-inf,-inf,-inf,-inf, 0,-inf,0,-inf,-inf, -3e38,-3e38,-3e38,-3e38,-3e38]
  s = batch_matmul(q, k) adj_y=true
  a = add(s, m)
  p = softmax(a)
  y = batch_matmul(p, k)
  output y
}
EOF2
python3 "$src/tests/cuda/attentions.py" 1 10 >first.ag
python3 "$src/tests/cuda/attentions.py" 2 10 >second.ag
for m in first second blind; do
    n=$(grep -c 'softmax\|= div(' $m.ag)
    "$arenac" run -q $m.ag -t cuda-sm90 --skip attention --backend eval --random 3 --output-dir apart || die "$m apart"
    for gpu in sm75 sm80; do # 64 KiB of shared memory: tiles of keys; 163: all keys of most
        for backend in eval cuda-race; do
            "$arenac" run -q $m.ag --backend $backend -t cuda-$gpu --random 3 --output-dir $backend || die "$m $backend"
        done
        for f in eval/*.npy; do
            cmp "$f" "cuda-race/${f#eval/}" || die "$m: not the bits of the evaluator on $gpu"
        done
    done
    [ "$("$arenac" plan -q $m.ag -t cuda-sm90 --dump-after attention | grep -c ' = attention(')" = "$n" ] ||
        die "$m: $n attentions, as many operators"
    "$arenac" plan -q $m.ag -t cuda-sm90 --exact --dump-after dead >exact.txt || die "$m: plan --exact"
    ! grep -q ' = attention(' exact.txt || die "--exact"
    have_numpy || continue
    "$py" - $m <<'EOF2' || die "$m: not the values of the separate operators"
import sys
import numpy as np
for i in range(10 if sys.argv[1] != "blind" else 1):
    want, got = np.load("apart/%d.npy" % i), np.load("eval/%d.npy" % i)
    assert (np.isnan(want) == np.isnan(got)).all(), i
    near = 4e-3 if want.dtype == np.float16 else 1e-6
    want, got = want.astype(np.float64), got.astype(np.float64)
    assert np.nanmax(np.abs(want - got)) <= near * np.nanmax(np.abs(want)), i
    assert sys.argv[1] != "blind" or (np.isnan(got[0]).all() and not np.isnan(got[1:]).any())
EOF2
done
echo "random attentions agree with separate operators"
