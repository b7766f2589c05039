# an option with a letter missing
# arenac: plan --plannr greedy ../../../models/digits_int8.tflite
