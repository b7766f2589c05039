# a memory that is not given
# arenac: plan -q ../../../models/digits_int8.tflite --pin image=tcm
