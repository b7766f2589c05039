# 50,000 nodes in a row are read in linear time
# arenac: check
from onnx_bytes import *

nodes = [node("Relu", ["t%d" % i if i else "x"], ["t%d" % (i + 1)]) for i in range(50000)]
write(model(graph(nodes + [node("Neg", ["t50000"], ["y"])])))
