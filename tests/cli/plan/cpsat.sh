#!/bin/sh
# "Optimal" plans against OR-Tools' CP-SAT on random small problems. usage: cpsat.sh ARENAC SOURCE_DIR
# PYTHON names an interpreter that has ortools (PyPI); without one the test skips.
. "$2/tests/cli/prelude"
py=${PYTHON:-python3}
require "$py" python3
"$py" "$src/tests/cpsat.py" "$arenac"
