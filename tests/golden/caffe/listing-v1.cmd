# the same of the older form, layers { }
# arenac: show ../../../models/squares_v1.prototxt
