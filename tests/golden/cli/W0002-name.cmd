# a C prefix that is no identifier is said; one in capitals is meant as it will be
# arenac digit: compile ../../../models/digits_int8.tflite --name 1kws --emit c -o /dev/null
# arenac case: compile ../../../models/digits_int8.tflite --name KWS --emit c -o /dev/null
