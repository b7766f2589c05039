# pass infer cannot be left out
# arenac: check ../../../models/digits_int8.tflite --skip infer
