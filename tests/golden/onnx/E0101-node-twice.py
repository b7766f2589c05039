# two nodes make one value
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])])))
