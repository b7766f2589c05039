# a target that is not in the list
# arenac: compile -t z80 ../../../models/digits_int8.tflite
