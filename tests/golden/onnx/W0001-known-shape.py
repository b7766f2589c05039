# a value between that is declared in another shape: a note, the model is read
from onnx_bytes import *

nodes = [node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["y"])]
write(model(graph(nodes, known=[("a", F32, [3, 2])])))
