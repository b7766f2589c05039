# branches that are joined, int8
# arenac: plan ../../../models/branch_int8.tflite
