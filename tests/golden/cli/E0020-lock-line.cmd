# a line of a lock with a word for a number
# arenac: plan -q ../../../models/digits_int8.tflite --lock E0020-lock-line.lock
