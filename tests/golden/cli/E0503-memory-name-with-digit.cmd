# a name that is no name in C
# arenac: plan -q ../../../models/digits_int8.tflite --mem 2nd:1K
