# sharing is exclusive or concurrent
# arenac: plan ../../../models/digits_int8.tflite ../../../models/branch_int8.tflite --share both
