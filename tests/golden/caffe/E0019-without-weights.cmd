# code needs the weights
# arenac: compile ../../../models/squares.prototxt --emit c -o -
