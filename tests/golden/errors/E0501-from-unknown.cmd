# --from of a format that nobody knows
# arenac: plan ../../../models/digits_int8.tflite --from tflight
