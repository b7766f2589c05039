# nodes in no order that could be executed are read in one that can
from onnx_bytes import *

nodes = [node("Neg", ["b"], ["y"]), node("Add", ["x", "a"], ["b"]), node("Relu", ["x"], ["a"])]
write(model(graph(nodes)))
