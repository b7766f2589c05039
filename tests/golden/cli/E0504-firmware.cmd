# firmware does not run here
# arenac: run ../../../models/digits_int8.tflite -t cortex-m4 --random 1
