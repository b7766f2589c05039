#!/bin/sh
# Gradients of random graphs agree with central differences, both by the evaluator in float64: 60 graphs, and a few as
# C. ARENAC_LONG=1: 1,000. usage: random_grads.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
count=60
[ -z "${ARENAC_LONG:-}" ] || count=1000
python3 "$src/tests/random_grads.py" "$arenac" 0 $count || fail "differences of the evaluator"
if have_llvm; then
    python3 "$src/tests/random_grads.py" "$arenac" 2000 10 --backend llvm || fail "differences of objects"
fi
