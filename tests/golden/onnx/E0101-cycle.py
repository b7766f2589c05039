# two nodes read each other
from onnx_bytes import *

write(model(graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])])))
