# convert writes formats that it knows
# arenac: convert ../../../models/digits_int8.tflite n.xyz
