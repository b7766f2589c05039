# a plan for TFLite Micro over its budget
# arenac: plan ../../../models/digits_int8.tflite --emit tflite --budget 16 -o -
