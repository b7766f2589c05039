#!/bin/sh
# Random concatenations and pools: kernels have the bits of the host, also of zeros with signs and NaN, and no races,
# and are proven; each is one launch. usage: cuda_moves.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
n=16
python3 "$src/tests/cuda/moves.py" 1 $n >m.ag
cat >edges.ag <<'EOF2'
graph edges {
  const x: f32[1,3,3,4] = [0,-0,nan,1, -0,0,1,nan, nan,nan,-1,-0, 0,-0,nan,1, nan,0,1,-0, -0,-0,nan,0,
    nan,0,-0,1, 0,-0,-1,nan, 0,nan,-0,0]
  input s: f32[1,3,3,4]
  z = minimum(s, x)
  y = max_pool_2d(z) kernel_h=3 kernel_w=3 padding=same
  output y
}
EOF2
for m in m edges; do
    "$arenac" run -q $m.ag --backend eval --random 3 --output-dir host || die "$m: host"
    for t in sm75 sm90; do
        "$arenac" run -q $m.ag --backend cuda-race -t cuda-$t --random 3 --output-dir race || die "$m: cuda-race $t"
        for f in host/*.npy; do
            cmp "$f" "race/${f#host/}" || die "$m, $t: not the bits of the host"
        done
        "$arenac" prove -q $m.ag -t cuda-$t >proof || { cat proof; die "$m, $t: not proven"; }
    done
    rm -r host race
done
[ "$("$arenac" plan --json -q m.ag -t cuda-sm80 | grep -c '"modelled_ns"')" = $n ] || die "not $n launches"
echo "random concatenations and pools agree with the host"
