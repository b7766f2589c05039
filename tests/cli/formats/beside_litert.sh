#!/bin/sh
# TFLite operators in random models, compared with LiteRT's reference kernels (beside_litert.py). ARENAC_LITERT names a
# Python that has ai-edge-litert and flatbuffers. usage: beside_litert.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime litert
"$py" "$src/tests/cli/formats/beside_litert.py" "$arenac" "$tmp" eval "${ARENAC_SEEDS:-1}"
[ "${ARENAC_SEEDS:-1}" = 1 ] || "$py" "$src/tests/cli/formats/beside_litert.py" "$arenac" "$tmp" c 1
