#!/bin/sh
# Data-dependent loops and branches of TensorFlow, and computed sizes, compared with TensorFlow (flow_tf.py). ARENAC_TF
# names a Python that has tensorflow. usage: flow_tf.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime tensorflow
backends=eval,c
! have_llvm || backends=eval,c,llvm
"$py" "$src/tests/cli/formats/flow_tf.py" "$arenac" "$tmp" $backends 2>&1
