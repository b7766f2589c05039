# an offset that leaves the memory
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:1K --pin image=a@1008
