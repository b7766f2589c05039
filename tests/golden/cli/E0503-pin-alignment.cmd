# an offset that breaks the alignment
# arenac: plan -q ../../../models/digits_int8.tflite --pin image=arena@8
