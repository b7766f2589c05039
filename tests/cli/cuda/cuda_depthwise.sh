#!/bin/sh
# Random depthwise convolutions of floats: kernels have the bits of the evaluator and no races, are proven, and agree
# with the host's within rounding. usage: cuda_depthwise.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
n=12
python3 "$src/tests/cuda/depthwises.py" 1 $n >m.ag
for o in "sm75" "sm90" "sm90 --exact"; do
    # shellcheck disable=SC2086
    "$arenac" run -q m.ag --backend eval -t cuda-$o --random 3 --output-dir eval || die "eval $o"
    # shellcheck disable=SC2086
    "$arenac" run -q m.ag --backend cuda-race -t cuda-$o --random 3 --output-dir race || die "cuda-race $o"
    for f in eval/*.npy; do
        cmp "$f" "race/${f#eval/}" || die "$o: not the bits of the evaluator"
    done
done
for t in sm75 sm90; do
    "$arenac" prove -q m.ag -t cuda-$t >proof || { cat proof; die "$t: not proven"; }
done
if have_numpy; then
    "$arenac" run -q m.ag --backend eval --random 3 --output-dir host || die "host"
    "$py" - $n <<'EOF2' || die "not the values of the host"
import sys
import numpy as np
for i in range(int(sys.argv[1])):
    want, got = np.load("host/%d.npy" % i), np.load("eval/%d.npy" % i)
    assert np.abs(want - got).max() <= 2e-6 * np.abs(want).max(), i
EOF2
fi
echo "random depthwise convolutions agree with the evaluator"
