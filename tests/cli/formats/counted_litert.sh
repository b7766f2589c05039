#!/bin/sh
# Results of data-dependent size, in random models, compared with LiteRT (counted_litert.py). ARENAC_LITERT names a
# Python that has ai-edge-litert and flatbuffers. usage: counted_litert.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime litert
"$py" "$src/tests/cli/formats/counted_litert.py" "$arenac" "$tmp" eval 2
