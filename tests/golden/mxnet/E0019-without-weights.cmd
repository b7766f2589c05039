# code needs the weights
# arenac: compile ../../../models/dense-symbol.json --dim data.0=1 --dim data.1=12 --emit c -o -
