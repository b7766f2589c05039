# a verb with a letter too many
# arenac: plna ../../../models/digits_int8.tflite
