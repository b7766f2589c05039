# C is not printed for the vectors of this target
# arenac: compile ../../../models/digits_int8.tflite -t aarch64
