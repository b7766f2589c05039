# a lock that is not there
# arenac: plan -q ../../../models/digits_int8.tflite --lock missing.lock
