# an output that is declared in another shape
# arenac: --strict
from onnx_bytes import *

relu = node("Relu", ["x"], ["y"])
write(model(graph([relu], outs=[("y", F32, [2, 4])])))
