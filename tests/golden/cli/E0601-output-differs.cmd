# the output is not the reference
# arenac: run ../../../models/digits_int8.tflite --input 0=../../../models/digits_int8.in0.0.npy --compare 0=../../../models/digits_int8.out0.2.npy --backend eval
