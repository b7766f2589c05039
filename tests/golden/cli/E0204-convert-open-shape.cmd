# shapes are pinned with --dim
# arenac: convert ../../../models/dense-symbol.json ../../../models/dense-0000.params --emit ag -o -
