# a tensor with a letter too many
# arenac: plan -q ../../../models/digits_int8.tflite --pin imagee=arena
