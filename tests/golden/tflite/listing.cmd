# the operators of a file, with the plan that is stored in it
# arenac: show ../../../models/dsnet_int8.tflite
