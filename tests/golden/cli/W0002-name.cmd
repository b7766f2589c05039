# a C prefix that is no identifier is said
# arenac digit: compile ../../../models/digits_int8.tflite --name 1kws --emit c -o /dev/null
