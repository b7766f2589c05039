# arguments of --mem that are not complete, or no sizes: the part that is wrong is named
# arenac size: plan ../../../models/digits_int8.tflite --mem a
# arenac zero: plan ../../../models/digits_int8.tflite --mem a:0
# arenac word: plan ../../../models/digits_int8.tflite --mem a:1K,quick
# arenac align: plan ../../../models/digits_int8.tflite --mem a:1K,align=3
# arenac near: plan ../../../models/digits_int8.tflite --mem a:1K,fsat
# arenac several: plan ../../../models/digits_int8.tflite --mem a:1K,b:2K
# arenac address: plan ../../../models/digits_int8.tflite --mem a:1K@sram
