# quantised operators are float ones between a dequantisation and a quantisation; equal scales change nothing
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8, I8 = "com.microsoft", 2, 3
s = lambda name, v: tensor(name, F32, [], struct.pack("<f", v))
z = lambda name, v: tensor(name, U8, [], bytes([v]))
q = ["s", "z"]
nodes = [
    node("QLinearSigmoid", ["x"] + q + ["t", "n"], ["a"], domain=MS),
    node("QLinearConcat", q + ["x"] + q + ["a", "t", "n"], ["c"], attr_int("axis", 1), domain=MS),
    node("DynamicQuantizeMatMul", ["f", "w", "s"], ["y"], domain=MS),
]
weights = [s("s", 0.5), z("z", 128), s("t", 0.00390625), z("n", 0), tensor("w", I8, [3, 2], bytes(range(6)))]
write(model(graph(nodes, [("x", U8, [1, 3]), ("f", F32, [1, 3])], [("c", U8, [1, 6]), ("y", F32, [1, 2])], weights),
            opsets=(("", 18), (MS, 1))))
