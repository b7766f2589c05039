#!/bin/sh
# Generated C is refused by compilers whose int, double or options would give other results. usage: compiler_demands.sh
# ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require gcc gcc
expect 0 '' "$arenac" compile "$models/gate.ag" -t generic -q -o floats.c
expect 0 '' "$arenac" compile "$models/digits_int8.tflite" -t cortex-m4 -q -o bytes.c
expect 0 '' gcc -c floats.c
expect 1 'error.*-ffast-math' gcc -ffast-math -c floats.c
expect 1 'error.*-ffast-math' gcc -ffinite-math-only -c floats.c
echo '#define INT_MAX 32767' >limits.h
expect 1 'error.*int has fewer than 32 bits' gcc -I. -c bytes.c
if have avr-gcc gcc-avr; then
    expect 1 'error.*int has fewer than 32 bits' avr-gcc -mmcu=atmega1284p -c bytes.c
fi
