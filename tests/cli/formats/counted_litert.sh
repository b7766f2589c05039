#!/bin/sh
# Results that are as large as the data says, in random models, beside LiteRT (counted_litert.py). ARENAC_LITERT names a
# Python that has ai-edge-litert and flatbuffers. usage: counted_litert.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime litert
"$py" "$src/tests/cli/formats/counted_litert.py" "$arenac" "$tmp" eval 2
