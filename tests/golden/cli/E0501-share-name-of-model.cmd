# the header of all cannot be that of one
# arenac: compile ../../../models/digits_int8.tflite ../../../models/branch_int8.tflite --share exclusive -o digits_int8.h
