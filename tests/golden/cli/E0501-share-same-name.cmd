# two models of one C name
# arenac: compile ../../../models/digits_int8.tflite ../../../models/digits_int8.tflite --share exclusive
