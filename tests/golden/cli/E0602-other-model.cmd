# the lock of another model
# arenac: plan -q ../../../models/branch_int8.tflite --lock ../plan/model-digits_int8.plan
