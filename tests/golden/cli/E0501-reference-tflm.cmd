# what TFLite Micro runs is planned, not compiled
# arenac: compile ../../../models/digits_int8.tflite --reference tflm
