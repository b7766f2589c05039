# the memory of state is for state
# arenac: plan -q ../../../models/digits_int8.tflite --pin image=state
