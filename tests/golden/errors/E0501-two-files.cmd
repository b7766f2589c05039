# a second file for a format that has one
# arenac: plan ../../../models/digits_int8.tflite ../../../models/digits_int8.tflite
