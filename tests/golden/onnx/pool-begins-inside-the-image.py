# strides larger than the window: SAME_UPPER needs (3 - 1) * 3 + 1 - 9 = -2 elements of padding, so that the first
# window begins at row 1, as in ONNX Runtime
# arenac: check --dump-after infer
from onnx_bytes import *

attrs = attr_ints("kernel_shape", [1, 1]) + attr_ints("strides", [3, 1]) + attr_word("auto_pad", "SAME_UPPER")
nodes = [node("LpPool", ["x"], ["l"], attrs + attr_int("p", 1)), node("AveragePool", ["x"], ["a"], attrs),
         node("MaxPool", ["x"], ["m"], attrs)]
write(model(graph(nodes, [("x", F32, [1, 1, 9, 2])], [(y, F32, [1, 1, 3, 2]) for y in "lam"])))
