# the same of the older form, layers { }
# arenac: show -v ../../../models/squares_v1.prototxt
