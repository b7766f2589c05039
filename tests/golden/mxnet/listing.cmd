# the nodes of a symbol
# arenac: show ../../../models/dense-symbol.json
