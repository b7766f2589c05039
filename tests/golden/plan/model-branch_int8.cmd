# branches that are joined, int8
# arenac: plan ../../../models/branch_int8.tflite
# arenac memories: --mem big:1M,slow --mem tcm:4K,fast
