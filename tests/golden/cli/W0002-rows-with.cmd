# what needs whole inputs
# arenac: plan ../../../models/dsnet_int8.tflite --io rows
# arenac preserve: --preserve all
# arenac reference: --reference tflite
# arenac stripe: --stripe 1-2
