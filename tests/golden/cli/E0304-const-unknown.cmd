# --const of an input that the model does not have
# arenac: plan ../../../models/digits_int8.tflite --const 1=../../../models/digits_int8.in0.0.npy
