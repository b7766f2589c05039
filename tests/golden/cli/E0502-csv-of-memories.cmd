# a plan in CSV form has no column that says the memory
# arenac: plan ../../../models/digits_int8.tflite --mem a:700,fast --mem b:9K --emit csv -o -
