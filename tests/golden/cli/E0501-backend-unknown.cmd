# a backend without a module
# arenac: run ../../../models/digits_int8.tflite --backend nosuch --random 1
