# a budget of a memory that is not given
# arenac: plan -q ../../../models/digits_int8.tflite --budget tcm=4K
