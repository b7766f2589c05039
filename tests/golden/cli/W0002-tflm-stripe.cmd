# TFLite Micro works on whole tensors
# arenac: plan ../../../models/digits_int8.tflite --reference tflm --stripe auto
