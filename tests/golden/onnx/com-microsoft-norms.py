# normalisations of ONNX Runtime's optimiser: the sum before them is a result of its own
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

H, F = 4, lambda *d: ("x", F32, list(d))
w = lambda name: tensor(name, F32, [H], struct.pack("<4f", 1, 2, 3, 4))
MS = "com.microsoft"
nodes = [
    node("SkipLayerNormalization", ["x", "s", "g", "b", "c"], ["y", "", "", "sum"], domain=MS),
    node("SkipSimplifiedLayerNormalization", ["x", "s", "g"], ["z"], domain=MS),
    node("BiasSplitGelu", ["y", "b"], ["gelu"], domain=MS),
    node("QuickGelu", ["z"], ["quick"], domain=MS),
]
x = [1, 2, H]
write(model(graph(nodes, ins=[("x", F32, x), ("s", F32, x)],
                  outs=[("sum", F32, x), ("gelu", F32, [1, 2, 2]), ("quick", F32, x)],
                  weights=[w("g"), w("b"), w("c")]), opsets=(("", 18), (MS, 1))))
