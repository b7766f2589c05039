# a budget that no plan fits
# arenac: plan --budget 100 ../../../models/digits_int8.tflite
