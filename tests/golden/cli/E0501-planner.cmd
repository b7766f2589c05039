# a strategy that is not in the list
# arenac: plan --planner magic ../../../models/digits_int8.tflite
