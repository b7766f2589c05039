# a node makes an input
from onnx_bytes import *

write(model(graph([node("Neg", ["y"], ["x"]), node("Relu", ["x"], ["y"])])))
