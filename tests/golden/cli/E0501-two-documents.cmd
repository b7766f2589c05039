# standard output is one document
# arenac kinds: plan ../../../models/digits_int8.tflite --emit csv,md -o -
# arenac json: plan ../../../models/digits_int8.tflite --emit csv --json -o -
