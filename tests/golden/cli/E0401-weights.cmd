# weights that do not fit into the read-only memory
# arenac: plan -q ../../../models/digits_int8.tflite --mem flash:1K,ro
