#!/bin/sh
# Data-dependent loops and branches of ONNX, compared with ONNX Runtime (loops_ort.py). ARENAC_ORT names a Python that
# has onnx and onnxruntime. usage: loops_ort.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
backends=eval,c
! have_llvm || backends=eval,c,llvm
"$py" "$src/tests/cli/formats/loops_ort.py" "$arenac" "$tmp" $backends
