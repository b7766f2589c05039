# --input of an input twice
# arenac: run ../../../models/digits_int8.tflite --input 0=../../../models/digits_int8.in0.0.npy --input 0=../../../models/digits_int8.in0.0.npy
