# depthwise and pointwise convolutions, int8
# arenac: plan ../../../models/dsnet_int8.tflite
# arenac tflm: --reference tflm
# arenac stripe: --stripe auto
# arenac rows: --io rows
# arenac tflite: --reference tflite
# arenac groups: --stripe 1-3,5-6 --align 4
