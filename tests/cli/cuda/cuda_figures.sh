#!/bin/sh
# Launches for GPUs, their blocks and bytes: no more than tests/cuda/figures.txt has.
# usage: cuda_figures.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
python3 "$src/tests/cuda/figures.py" "$arenac" "$src"
