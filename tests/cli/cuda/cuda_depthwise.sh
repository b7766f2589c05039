#!/bin/sh
# Random depthwise convolutions of floats, and such of expanded values as one kernel: kernels have the bits of the
# evaluator and no races, are proven, and agree with the host's within rounding.
# usage: cuda_depthwise.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
n=12

# agree MODEL TARGET..: the bits of the evaluator
agree() {
    model=$1
    shift
    for o in "$@"; do
        rm -rf eval race
        # shellcheck disable=SC2086
        "$arenac" run -q $model --backend eval -t cuda-$o --random 3 --output-dir eval || die "$model, eval $o"
        # shellcheck disable=SC2086
        "$arenac" run -q $model --backend cuda-race -t cuda-$o --random 3 --output-dir race || die "$model, race $o"
        for f in eval/*.npy; do
            cmp "$f" "race/${f#eval/}" || die "$model, $o: not the bits of the evaluator"
        done
    done
    have_numpy || return 0
    "$arenac" run -q "$model" --backend eval --random 3 --output-dir host || die "host"
    "$py" - $n <<'EOF2' || die "$model: not the values of the host"
import sys
import numpy as np
for i in range(int(sys.argv[1])):
    want, got = np.load("host/%d.npy" % i), np.load("eval/%d.npy" % i)
    assert np.abs(want - got).max() <= 4e-6 * np.abs(want).max(), i
EOF2
}
python3 "$src/tests/cuda/depthwises.py" 1 $n >m.ag
agree m.ag "sm75" "sm90 --exact" "sm90"
python3 "$src/tests/cuda/depthwises.py" 2 $n expanded >e.ag
agree e.ag "sm80" "sm90"
for m in m e; do
    for t in sm75 sm90; do
        "$arenac" prove -q $m.ag -t cuda-$t >proof || { cat proof; die "$m, $t: not proven"; }
    done
done

# count OPTIONS: expanded_depthwise operators
count() {
    "$arenac" plan -q e.ag -t cuda-sm90 --dump-after gate "$@" 2>/dev/null | grep -c expanded_depthwise || true
}
[ "$(count)" -ge 3 ] || die "few convolutions expand what they read"
[ "$(count --skip expand)" = 0 ] || die "--skip expand"
[ "$(count --exact)" = 0 ] || die "--exact"
# A filter of equal numbers is copied as well
cat >s.ag <<'EOF2'
graph s {
  input x: f32[1,9,9,16]
  const w: f32[1,3,3,16] = splat 0.125
  y = depthwise_conv_2d(x, w) padding=same
  output y
}
EOF2
n=1
agree s.ag "sm90"
echo "random depthwise convolutions agree with the evaluator"
