# transforms are F(2x2) and F(4x4)
# arenac: compile ../../../models/digits_int8.tflite --winograd=3
