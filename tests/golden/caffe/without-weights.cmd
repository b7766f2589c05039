# a net without its weights is planned
# arenac: plan ../../../models/squares.prototxt
