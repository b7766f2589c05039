# --const of an input twice
# arenac: plan ../../../models/digits_int8.tflite --const 0=../../../models/digits_int8.in0.0.npy --const 0=../../../models/digits_int8.in0.0.npy
