# a model without problems
# arenac: check ../../../models/digits_int8.tflite
