#!/bin/sh
# TensorFlow's operators in graphs of random values, compared with TensorFlow (beside_tf.py). ARENAC_TF names a Python
# that has tensorflow. usage: beside_tf.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime tensorflow
"$py" "$src/tests/cli/formats/beside_tf.py" "$arenac" "$tmp" eval 1
