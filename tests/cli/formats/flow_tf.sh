#!/bin/sh
# Loops and branches of TensorFlow that data decides, and sizes that are computed, beside TensorFlow (flow_tf.py).
# ARENAC_TF names a Python that has tensorflow. usage: flow_tf.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime tensorflow
backends=eval,c
! have_llvm || backends=eval,c,llvm
"$py" "$src/tests/cli/formats/flow_tf.py" "$arenac" "$tmp" $backends 2>&1
