# an output by a part of its name, and one that several tensors have
# arenac: show ../../../models/digits_int8.tflite --outputs d1_1
