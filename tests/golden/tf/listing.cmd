# the nodes of a graph
# arenac: show ../../../models/tf_rnn.pbtxt
