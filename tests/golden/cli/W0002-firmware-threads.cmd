# firmware has no threads
# arenac: compile ../../../models/dsnet_int8.tflite -t cortex-m4 --threads 2 --emit loops -o -
