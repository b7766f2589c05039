# lists of steps that are no runs of steps that can work row by row
# arenac nothing: plan ../../../models/dsnet_int8.tflite --stripe ,
# arenac backwards: plan ../../../models/dsnet_int8.tflite --stripe 3-2
# arenac range: plan ../../../models/dsnet_int8.tflite --stripe 0-99
# arenac name: plan ../../../models/dsnet_int8.tflite --stripe nobody
# arenac twice: plan ../../../models/dsnet_int8.tflite --stripe 1-3,3-4
# arenac together: plan ../../../models/dsnet_int8.tflite --stripe 11-12
# arenac near: plan ../../../models/dsnet_int8.tflite --stripe atuo
