# options that make no sense on GPUs
# arenac: compile ../../../models/branch_int8.tflite -t cuda-sm80 --stripe auto --threads 2 --emit loops -o -
