# an array of another shape
# arenac: run ../../../models/digits_int8.tflite --input 0=../../../models/dsnet_int8.in0.0.npy
