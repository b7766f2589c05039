# several models over a budget
# arenac: plan ../../../models/digits_int8.tflite ../../../models/branch_int8.tflite --share concurrent --budget 7000
