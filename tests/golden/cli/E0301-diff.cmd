# a model that is not there
# arenac: diff ../plan/model-digits_int8.plan missing.tflite
