# several memories against one and another: all are named, also those that are gone
# arenac: diff diff-memories.lock ../../../models/digits_int8.tflite --mem a:512,fast --mem c:1M,slow
# arenac md: --md
# arenac json: --json
