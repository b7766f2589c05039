# targets without tensor cores, and models that forbid them
# arenac: plan ../../../models/branch_int8.tflite --tensor-cores tf32
# arenac sm75: -t cuda-sm75
# arenac exact: -t cuda-sm80 --exact
