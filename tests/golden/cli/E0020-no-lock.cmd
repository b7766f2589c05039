# a file that is no lock
# arenac: plan -q ../../../models/digits_int8.tflite --lock E0020-no-lock.lock
