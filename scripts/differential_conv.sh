#!/bin/sh
# differential_conv.sh - lowerings against plain loops written out in the tests: 2,000 random cases of convolution,
# depthwise, transpose convolution, fully connected, matrix product and pooling in every number system, over random
# shapes, strides, paddings, groups, dilations and activations, on all targets, whole and cut into chunks. Integers
# must be equal, floats close. CI runs a small share of them.
# usage: scripts/differential_conv.sh [BUILD_DIR [CASES [FIRST_SEED]]]
set -eu
build=${1:-build} cases=${2:-2000} first=${3:-1}
if ! [ -x "$build/tests/test_conv" ]; then
    echo "build the tests first: cmake -B $build -DBUILD_TESTING=ON && cmake --build $build"
    exit 2
fi
kinds=46 # of all three together
rounds=$(((cases + kinds - 1) / kinds))
for t in conv matmul pool; do
    "$build/tests/test_$t" $rounds "$first"
done
echo "$((rounds * kinds)) cases agree"
