#!/bin/sh
# Results that are as large as the data says, in random models, beside ONNX Runtime (counted_ort.py). ARENAC_ORT names a
# Python that has onnx and onnxruntime. usage: counted_ort.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
mkdir o
"$py" "$src/tests/cli/formats/counted_ort.py" "$arenac" "$tmp" eval 2
