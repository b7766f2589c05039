# --pin needs a memory
# arenac: plan ../../../models/digits_int8.tflite --pin image
