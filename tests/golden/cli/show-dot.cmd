# the graph as a picture of Graphviz
# arenac: show ../../../models/gate.ag --emit dot
