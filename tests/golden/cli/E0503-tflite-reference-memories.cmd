# TFLite knows one memory
# arenac: plan -q ../../../models/digits_int8.tflite --reference tflite --mem a:1M --mem b:1M
