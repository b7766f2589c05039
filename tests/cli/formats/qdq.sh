#!/bin/sh
# QDQ models: integer kernels and floats compared with ONNX Runtime (qdq.py). ARENAC_ORT names a Python that has onnx
# and onnxruntime. usage: qdq.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
"$py" "$src/tests/cli/formats/qdq.py" "$arenac" "$tmp" eval 12
case $arenac in *asan*) ;; *) "$py" "$src/tests/cli/formats/qdq.py" "$arenac" "$tmp" c 3 ;; esac
