# a C prefix in capitals is meant as it will be: no warning
# arenac: compile ../../../models/digits_int8.tflite --name KWS --emit c -o /dev/null
