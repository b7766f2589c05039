# no memory has room
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:256 --mem b:512
