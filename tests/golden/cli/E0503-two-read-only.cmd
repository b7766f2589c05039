# weights lie in one memory
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:1M,ro --mem b:1M,ro
