# the emulation of a GPU runs code for GPUs
# arenac: run ../../../models/digits_int8.tflite -t generic --backend cuda-emu --random 1
