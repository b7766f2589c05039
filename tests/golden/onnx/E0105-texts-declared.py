# a result that is declared as text, but holds numbers, and the other way round
# arenac: check
from onnx_bytes import *

nodes = [node("Identity", ["x"], ["a"]), node("Identity", ["k"], ["b"])]
write(model(graph(nodes, [("x", STRING, [2]), ("k", I32, [2])], [("a", I32, [2]), ("b", STRING, [2])])))
