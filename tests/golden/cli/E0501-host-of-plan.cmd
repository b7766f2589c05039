# plan has no --host
# arenac: plan --host ../../../models/digits_int8.tflite
