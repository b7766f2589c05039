# an output that is declared as another type
from onnx_bytes import *

relu = node("Relu", ["x"], ["y"])
write(model(graph([relu], outs=[("y", I64, [2, 3])])))
