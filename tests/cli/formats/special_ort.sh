#!/bin/sh
# NaN, infinities, zeros and subnormal numbers, compared with ONNX Runtime (special_ort.py). ARENAC_ORT names a Python
# that has onnx and onnxruntime. usage: special_ort.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
"$py" "$src/tests/values/special_ort.py" "$arenac" "$tmp" eval generic 1 2
case $arenac in *asan*) ;; *) "$py" "$src/tests/values/special_ort.py" "$arenac" "$tmp" c host 3 ;; esac
