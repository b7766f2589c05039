# one of several models is not there
# arenac: plan ../../../models/digits_int8.tflite nowhere.tflite --share exclusive
