#!/bin/sh
# ONNX TreeEnsemble: random trees against a walk in Python (trees.py). usage: trees.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
have_numpy || exit 77
$py "$src/tests/cli/formats/trees.py" "$arenac" "$tmp" eval 24
$py "$src/tests/cli/formats/trees.py" "$arenac" "$tmp" c 2
