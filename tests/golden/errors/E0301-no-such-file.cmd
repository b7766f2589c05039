# a file that is not there
# arenac: plan missing.tflite
