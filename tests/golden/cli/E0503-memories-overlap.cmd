# two memories at the same addresses
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:1K@0x1000 --mem b:1K@0x1100
