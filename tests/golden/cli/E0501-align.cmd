# an alignment is a power of two
# arenac: plan ../../../models/digits_int8.tflite --align 24
