# plan does not write code
# arenac: plan ../../../models/digits_int8.tflite --emit c
