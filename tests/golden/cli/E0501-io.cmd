# inputs come as a whole or by rows
# arenac: plan ../../../models/digits_int8.tflite --io columns
