# a model of another format as text
# arenac: show ../../../models/tf_rnn.pbtxt --emit ag
