#!/bin/sh
# --state: windows that slide become rings where no result depends on the order of their rows; else the operator that
# needs it is named. Values of ONNX Runtime, run for run. usage: state_ring.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require gcc gcc
require_runtime onnxruntime
"$py" "$src/tests/cli/state_ring.py" "$arenac"
