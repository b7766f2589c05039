# outputs that the model does not have, or that are named twice
# arenac: plan ../../../models/digits_int8.tflite --outputs nosuch
