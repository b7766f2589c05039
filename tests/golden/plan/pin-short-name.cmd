# by the name that the report shows: a part of a long one
# arenac: plan ../../../models/digits_int8.tflite --pin c1_relu_1=arena@256 --pin p2_1=arena
