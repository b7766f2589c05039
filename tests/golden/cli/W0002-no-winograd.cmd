# no convolution takes --winograd
# arenac: plan ../../../models/dsnet_int8.tflite -t x86-64-v3 --winograd
