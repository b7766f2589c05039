# a kind that was nearly meant
# arenac: compile ../../../models/digits_int8.tflite --emit mkae
