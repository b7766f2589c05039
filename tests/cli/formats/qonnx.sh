#!/bin/sh
# QONNX: Quant, BipolarQuant and Trunc follow their definitions, and weights of 1 to 8 bits are multiplied as bytes
# (qonnx.py). usage: qonnx.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
export PYTHONPATH="$src/tests/golden:$models" PYTHONDONTWRITEBYTECODE=1
for seed in 1 2; do
    "$py" "$src/tests/cli/formats/qonnx.py" "$arenac" $seed || fail "seed $seed"
done
exit $bad
