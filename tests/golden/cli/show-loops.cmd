# the loops of one step, with what was chosen for it
# arenac: show ../../../models/gate.ag --loops expand
# arenac v3: -t x86-64-v3
