#!/bin/sh
# Results of data-dependent size, in random models, compared with ONNX Runtime (counted_ort.py). ARENAC_ORT names a
# Python that has onnx and onnxruntime. usage: counted_ort.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
mkdir o
"$py" "$src/tests/cli/formats/counted_ort.py" "$arenac" "$tmp" eval 2
