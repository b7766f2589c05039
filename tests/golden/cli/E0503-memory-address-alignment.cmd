# an address that breaks the memory's alignment
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:1K@0x1008,align=64
