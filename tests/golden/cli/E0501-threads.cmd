# a step is cut into one chunk or more
# arenac: compile ../../../models/digits_int8.tflite --threads 0
