# the list of targets
# arenac: targets
