# a symbol has no shapes: --dim gives those of its inputs
# arenac: plan ../../../models/dense-symbol.json
