# a name that C has already
# arenac: plan -q ../../../models/digits_int8.tflite --mem int:1K
