# a shape that is an input of the model, and nothing that declares the result
from onnx_bytes import *

nodes = [node("Reshape", ["x", "s"], ["a"], name="re"), node("Relu", ["a"], ["y"])]
write(model(graph(nodes, ins=[X, ("s", I64, [2])], outs=[("y", F32, ["m", "n"])])))
