# several models become C or objects
# arenac: compile ../../../models/digits_int8.tflite ../../../models/branch_int8.tflite --share exclusive --emit cu,h
