# two names of the same bytes
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:64K --mem b:64K --pin digits_1/p2_1/MaxPool2d=a --pin digits_1/flat_1/Reshape=b
