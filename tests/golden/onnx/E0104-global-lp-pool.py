# a power that is no number
from onnx_bytes import *

pool = node("GlobalLpPool", ["x"], ["y"], attr_float("p", float("nan")))
write(model(graph([pool], [("x", F32, [1, 2, 4, 4])], [("y", F32, [1, 2, 1, 1])]), opsets=[("", 1)]))
