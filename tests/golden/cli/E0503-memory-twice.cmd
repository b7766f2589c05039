# names of memories become macros: case is no difference
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:1K --mem A:2K
