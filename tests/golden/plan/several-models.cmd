# three models, two of them equal
# arenac: plan ../../../models/digits_int8.tflite ../../../models/branch_int8.tflite ../../../models/digits_int8.tflite
# arenac exclusive: --share exclusive
# arenac concurrent: --share concurrent
