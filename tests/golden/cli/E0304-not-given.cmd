# an input that is not given
# arenac: run ../../../models/digits_int8.tflite
