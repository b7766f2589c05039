# com.microsoft: heads of one product, of three tensors, of bytes; positions turn them
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8, I8 = "com.microsoft", 2, 3
f = lambda name, *d: tensor(name, F32, list(d), b"".join(struct.pack("<f", i % 5 - 2) for i in range(d[0] * (d + (1,))[1])))
s = lambda name, v: tensor(name, F32, [], struct.pack("<f", v))
two = attr_int("num_heads", 2)
nodes = [
    node("RotaryEmbedding", ["x", "at", "cos", "sin"], ["r"], attr_int("interleaved", 1), domain=MS),
    node("Attention", ["x", "w", "b", "len"], ["a"], two, domain=MS),
    node("MultiHeadAttention", ["a", "a", "a", "", "", "near"], ["m"], two + attr_float("scale", 0.5), domain=MS),
    node("QAttention", ["q", "w8", "b", "s", "s", "", "z", "zw"], ["y"], two + attr_int("unidirectional", 1), domain=MS),
]
weights = [f("cos", 3, 2), f("sin", 3, 2), f("w", 4, 12), f("b", 12), f("near2", 8), s("s", 0.5),
           tensor("near", F32, [1, 2, 2, 2], struct.pack("<8f", *range(8))), tensor("w8", I8, [4, 12], bytes(range(48))),
           tensor("z", U8, [], bytes([128])), tensor("zw", I8, [], bytes(1))]
ins = [("x", F32, [1, 2, 4]), ("at", I64, [1, 2]), ("len", I32, [1]), ("q", U8, [1, 2, 4])]
write(model(graph(nodes, ins, [(k, F32, [1, 2, 4]) for k in ("r", "m", "y")], weights), opsets=(("", 18), (MS, 1))))
