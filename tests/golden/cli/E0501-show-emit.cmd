# show prints text, loops and graphs
# arenac: show ../../../models/digits_int8.tflite --emit svg
