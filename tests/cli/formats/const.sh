#!/bin/sh
# --const: an input becomes a constant of the model: nothing is left to give, and the result is the same.
# usage: const.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
model=$models/digits_int8.tflite x=$models/digits_int8.in0.0.npy y=$models/digits_int8.out0.0.npy
expect 0 '' "$arenac" run -q "$model" --const 0="$x" --compare 0="$y" --backend eval
expect 0 '' "$arenac" compile -q "$model" --const 0="$x" -o m.c
! grep -q M_IN0_BYTES m.h || fail "the fixed input is still one"
# a script that gives every input may go on doing so
expect 0 "--input '0' is left out: --const has fixed it" \
    "$arenac" run "$model" --const 0="$x" --input 0="$x" --compare 0="$y" --backend eval
