# C is not printed for the vectors of this target; another target of the same core is named
# arenac: compile ../../../models/digits_int8.tflite -t aarch64
# arenac core: -t cortex-m55-mve
