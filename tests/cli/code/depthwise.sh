#!/bin/sh
# Random int8 depthwise convolutions: code for targets that multiply the halves of words gives the evaluator's bytes, on
# this machine by the plain bodies of its helpers, and on the board in QEMU, C and object, if that is installed. usage:
# depthwise.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3 cc gcc
python3 "$src/tests/depthwise_models.py" "$arenac" 18 1 || fail "on this machine"
python3 "$src/tests/depthwise_models.py" "$arenac" 6 7000 || fail "on this machine, names that begin as the model's own"
have_shared firmware/harness/fwrun.py && have_arm || exit $bad
objects=
! have_llvm || objects=--objects
python3 "$src/tests/depthwise_models.py" "$arenac" 12 1000 --fwrun "$shared/firmware/harness/fwrun.py" $objects ||
    fail "on the board"
