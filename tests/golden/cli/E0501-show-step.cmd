# a step by a name that nobody has
# arenac: show ../../../models/digits_int8.tflite --loops nosuch
