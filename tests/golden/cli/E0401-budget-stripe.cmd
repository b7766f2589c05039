# the smallest plan there is, and the option for it
# arenac: plan ../../../models/dsnet_int8.tflite --align 4 --budget 1568
