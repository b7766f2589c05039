# code for a GPU does not run on the CPU
# arenac: run ../../../models/digits_int8.tflite -t cuda-sm80 --random 1
