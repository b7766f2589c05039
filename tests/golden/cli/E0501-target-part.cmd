# a core without the name of its family
# arenac: plan ../../../models/digits_int8.tflite -t m7
