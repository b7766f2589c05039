# sharing an arena needs two models
# arenac: plan ../../../models/digits_int8.tflite --share exclusive
