#!/bin/sh
# "Optimal" plans against OR-Tools' CP-SAT on random small problems. usage: cpsat.sh ARENAC SOURCE_DIR
# PYTHON names an interpreter that has ortools (PyPI); without one the test skips.
set -eu
exec "${PYTHON:-python3}" "$2/tests/cpsat.py" "$1"
