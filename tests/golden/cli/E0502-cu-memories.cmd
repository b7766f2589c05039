# kernels know one memory
# arenac: compile ../../../models/digits_int8.tflite -t cuda-sm80 --emit cu --mem a:1M --mem b:1M
