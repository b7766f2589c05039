# a part of the names of several tensors
# arenac: show ../../../models/digits_int8.tflite --outputs digits_1
