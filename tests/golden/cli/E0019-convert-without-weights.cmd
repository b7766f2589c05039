# the weights are missing
# arenac: convert ../../../models/squares.prototxt --emit ag -o -
