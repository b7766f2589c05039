# another model
# arenac: diff ../plan/model-digits_int8.plan ../../../models/branch_int8.tflite
