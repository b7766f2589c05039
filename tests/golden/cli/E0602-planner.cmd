# another strategy moves tensors
# arenac: plan -q ../../../models/digits_int8.tflite --lock ../plan/model-digits_int8.plan --planner none
