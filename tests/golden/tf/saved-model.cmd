# variables of a checkpoint are constants, named as the graph names them; inputs and outputs as the signature does
# arenac: show ../../../models/tf_saved
