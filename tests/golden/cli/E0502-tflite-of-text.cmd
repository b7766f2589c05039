# a plan goes into a TFLite file
# arenac: plan ../plan/order-search.ag --emit tflite -o -
