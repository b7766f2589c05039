# one of several models is none
# arenac: plan ../../../models/digits_int8.tflite ../../../models/README.md --share exclusive
