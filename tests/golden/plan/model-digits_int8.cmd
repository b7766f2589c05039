# convolutions, pools and dense layers, int8; the lock of ../cli
# arenac: plan ../../../models/digits_int8.tflite
