# a lock and the model it was made of
# arenac: diff ../plan/model-digits_int8.plan ../../../models/digits_int8.tflite
