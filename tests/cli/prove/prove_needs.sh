#!/bin/sh
# The table of models and the proof strategies that they need, of the models here; -v of ctest shows it.
# usage: prove_needs.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
python3 "$src/scripts/prove_needs.py" --arenac "$arenac" --models _int8.tflite --targets generic,cortex-m4 >table.txt ||
    fail "$(cat table.txt)"
cat table.txt
[ "$(grep -c '_int8.tflite .*channels' table.txt)" -gt 2 ] || fail "no model needs channels: $(cat table.txt)"
