# --update-lock needs a file
# arenac: plan -q ../../../models/digits_int8.tflite --update-lock
