# a file that is no array
# arenac: run ../../../models/digits_int8.tflite --input 0=../../../models/README.md
