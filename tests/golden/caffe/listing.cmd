# the layers of a net, with the shapes of its blobs
# arenac: show -v ../../../models/squares.prototxt
