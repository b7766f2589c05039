# a pass that is not in the list
# arenac: check ../../../models/digits_int8.tflite --skip epilog
