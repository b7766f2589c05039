#!/bin/sh
# --const: an input becomes a constant of the model, for every verb that reads one. usage: const.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
model=$src/models/digits_int8.tflite x=$src/models/digits_int8.in0.0.npy y=$src/models/digits_int8.out0.0.npy
# nothing is left to give, and the result is the same
"$arenac" run -q "$model" --const 0="$x" --compare 0="$y" --backend eval
"$arenac" compile -q "$model" --const 0="$x" -o "$tmp/m.c"
if grep -q M_IN0_BYTES "$tmp/m.h"; then echo "the fixed input is still one"; exit 1; fi
if "$arenac" plan "$model" --const 1="$x" 2>"$tmp/err"; then echo "there is no input 1"; exit 1; fi
grep -q 'names none' "$tmp/err"
if "$arenac" plan "$model" --const 0="$y" 2>"$tmp/err"; then echo "a wrong shape is taken"; exit 1; fi
grep -q 'E0304' "$tmp/err"
if "$arenac" plan "$model" --const 0="$x" --const 0="$x" 2>"$tmp/err"; then echo "given twice"; exit 1; fi
grep -q 'twice' "$tmp/err"
