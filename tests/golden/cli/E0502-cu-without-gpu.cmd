# kernels are for GPUs
# arenac: compile ../../../models/digits_int8.tflite -t generic --emit cu
