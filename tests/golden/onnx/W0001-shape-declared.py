# a shape that is an input of the model: what is declared counts
from onnx_bytes import *

write(model(graph([node("Reshape", ["x", "s"], ["y"], name="re")], ins=[X, ("s", I64, [2])])))
