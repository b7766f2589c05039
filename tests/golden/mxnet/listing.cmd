# the nodes of a symbol
# arenac: show -v ../../../models/dense-symbol.json
