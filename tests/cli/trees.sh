#!/bin/sh
# ONNX TreeEnsemble: random trees against a walk in Python (trees.py). usage: trees.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
have_numpy || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
$py "$src/tests/cli/trees.py" "$arenac" "$tmp" eval 24
$py "$src/tests/cli/trees.py" "$arenac" "$tmp" c 2
