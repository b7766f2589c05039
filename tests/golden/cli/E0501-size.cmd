# sizes are whole numbers with K, M or G
# arenac: plan --budget 1.5k ../../../models/digits_int8.tflite
