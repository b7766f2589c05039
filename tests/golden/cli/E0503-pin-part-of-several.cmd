# a part that several names have
# arenac: plan -q ../../../models/digits_int8.tflite --pin Relu=arena@256
