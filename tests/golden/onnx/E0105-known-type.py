# a value between that is declared as another type
from onnx_bytes import *

nodes = [node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["y"])]
write(model(graph(nodes, known=[("a", I64, [2, 3])])))
