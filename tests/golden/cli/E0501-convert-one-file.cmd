# convert takes a model and a file to write
# arenac: convert ../../../models/digits_int8.tflite
