# an input that the model does not have
# arenac: run ../../../models/digits_int8.tflite --input nosuch=../../../models/digits_int8.in0.0.npy
