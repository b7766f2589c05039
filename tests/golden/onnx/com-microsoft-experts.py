# each expert is a branch that runs if a token has chosen it; weights of QMoE stay packed
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8 = "com.microsoft", 2
floats = lambda name, dims, n: tensor(name, F32, dims, struct.pack("<%df" % n, *(i % 5 - 2 for i in range(n))))
codes = lambda name, dims, n: tensor(name, U8, dims, bytes(i * 37 & 255 for i in range(n)))
gate = attr_word("activation_type", "swiglu") + attr_int("swiglu_fusion", 1)
nodes = [
    node("MoE", ["x", "r", "w1", "b1", "w2", "b2"], ["m"], attr_word("activation_type", "silu"), domain=MS),
    node("QMoE", ["m", "r", "q1", "s1", "", "q2", "s2"], ["y"], gate + attr_int("expert_weight_bits", 8), domain=MS),
]
weights = [floats("w1", [2, 4, 4], 32), floats("b1", [2, 4], 8), floats("w2", [2, 4, 4], 32), floats("b2", [2, 4], 8),
           codes("q1", [2, 8, 4], 64), floats("s1", [2, 8], 16), codes("q2", [2, 4, 4], 32), floats("s2", [2, 4], 8)]
write(model(graph(nodes, [("x", F32, [1, 4]), ("r", F32, [1, 2])], [("y", F32, [1, 4])], weights),
            opsets=(("", 18), (MS, 1))))
