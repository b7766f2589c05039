#!/bin/sh
# "Optimal" plans against OR-Tools' CP-SAT on random small problems. usage: cpsat.sh ARENAC SOURCE_DIR
# PYTHON names an interpreter that has ortools (PyPI); without one the test skips.
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
py=${PYTHON:-python3}
require "$py" python3
exec "$py" "$src/tests/cpsat.py" "$arenac"
