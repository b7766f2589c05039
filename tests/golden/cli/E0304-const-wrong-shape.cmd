# --const with an array of another shape
# arenac: plan ../../../models/digits_int8.tflite --const 0=../../../models/digits_int8.out0.0.npy
