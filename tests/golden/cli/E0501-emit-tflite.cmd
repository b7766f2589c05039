# a plan inside a TFLite file is written by plan, alone
# arenac: compile ../../../models/digits_int8.tflite --emit tflite
