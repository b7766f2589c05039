# a recurrent net in TensorFlow's text
# arenac: plan ../../../models/tf_rnn.pbtxt
