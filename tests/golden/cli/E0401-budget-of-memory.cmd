# a budget for one of the memories
# arenac: plan -q ../../../models/digits_int8.tflite --mem a:256 --mem b:4K --budget b=512
