#!/bin/sh
# Random squeeze-and-excitation blocks: each is one operator on GPUs with clusters, with the values of the separate
# operators within rounding; convolutions of 1x1 take the gates. Kernels have the bits of the evaluator and no races,
# and are proven; --skip and --exact keep the operators apart. usage: cuda_excite.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
n=12
# agree BOUND: the bits of the evaluator, and nearly the values of the separate operators
agree() {
    "$arenac" run -q m.ag -t cuda-sm90 --skip excite --backend eval --random 3 --output-dir apart || die "apart"
    for t in sm75 sm90; do
        "$arenac" run -q m.ag --backend eval -t cuda-$t --random 3 --output-dir eval || die "eval $t"
        "$arenac" run -q m.ag --backend cuda-race -t cuda-$t --random 3 --output-dir race || die "cuda-race $t"
        for f in eval/*.npy; do
            cmp "$f" "race/${f#eval/}" || die "$t: not the bits of the evaluator"
        done
        "$arenac" prove -q m.ag -t cuda-$t >proof || { cat proof; die "$t: not proven"; }
    done
    have_numpy || return 0
    "$py" - $n "$1" <<'EOF2' || die "not the values of the separate operators"
import sys
import numpy as np
for i in range(int(sys.argv[1])):
    want, got = np.load("apart/%d.npy" % i), np.load("eval/%d.npy" % i)
    assert np.abs(want - got).max() <= float(sys.argv[2]) * max(1, np.abs(want).max()), i
EOF2
}
python3 "$src/tests/cuda/excites.py" 1 $n >m.ag
agree 1e-6
count() {
    op=$1
    shift
    "$arenac" plan -q m.ag -t cuda-sm90 "$@" | grep -c " = $op(" || :
}
[ "$(count excite --dump-after excite)" = $n ] || die "$n blocks, as many operators"
[ "$(count excite --dump-after epilogue --exact)" = 0 ] || die "--exact"
[ "$(count gated_conv_2d --dump-after epilogue)" -ge 3 ] || die "few convolutions take gates"
[ "$(count gated_conv_2d --dump-after epilogue --skip gate)" = 0 ] || die "--skip gate"
n=5
python3 "$src/tests/cuda/excites.py" 2 $n whole >m.ag
agree 1e-5
[ "$(count excited_conv_2d --dump-after excited)" -ge 3 ] || die "few convolutions compute their gates"
[ "$(count excited_conv_2d --dump-after epilogue)" = 0 ] || die "before the pass"
[ "$(count excited_conv_2d --dump-after view --skip excited)" = 0 ] || die "--skip excited"
echo "random squeeze-and-excitation blocks agree with separate operators"
