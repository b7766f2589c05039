# a folder that is no SavedModel
# arenac: plan ../errors
