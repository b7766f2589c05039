# another strategy moves tensors: as text, markdown and JSON
# arenac: diff ../plan/model-digits_int8.plan ../../../models/digits_int8.tflite --planner none
# arenac md: --md
# arenac json: --json
