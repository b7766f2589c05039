# a kind of output that nobody has
# arenac: compile ../../../models/digits_int8.tflite --emit nosuch
