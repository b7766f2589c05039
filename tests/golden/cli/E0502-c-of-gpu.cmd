# C is not printed for GPUs
# arenac: compile ../../../models/digits_int8.tflite -t cuda-sm80 --emit c
