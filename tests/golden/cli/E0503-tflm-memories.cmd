# TFLite Micro knows one memory
# arenac: plan ../../../models/digits_int8.tflite --emit tflite --mem a:1K -o -
