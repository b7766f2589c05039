#!/bin/sh
# Operators of com.microsoft and ai.onnx.ml in random models, compared with ONNX Runtime (beside_ort.py). ARENAC_ORT
# names a Python that has onnx and onnxruntime. usage: beside_ort.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
"$py" "$src/tests/cli/formats/beside_ort.py" "$arenac" "$tmp" eval "${ARENAC_SEEDS:-1}"
case $arenac in *asan*) ;; *) "$py" "$src/tests/cli/formats/beside_ort.py" "$arenac" "$tmp" c 1 "*Attention*" ;; esac
