# com.microsoft: convolutions, pools and norms of images whose channels come last
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, I8 = "com.microsoft", 3
f = lambda name, *d: tensor(name, F32, list(d), b"".join(struct.pack("<f", i % 5 - 2) for i in range(d[0] * (d + (1,))[1])))
ms = lambda op, ins, outs, attrs=b"": node(op, ins, outs, attrs, domain=MS)
nodes = [
    ms("NhwcConv", ["x", "k"], ["c"], attr_ints("pads", [1, 1, 1, 1])),
    ms("SkipGroupNorm", ["c", "g", "b", "x", "b"], ["n", "sum"], attr_int("groups", 2) + attr_int("activation", 1)),
    ms("NhwcMaxPool", ["i"], ["p"], attr_ints("kernel_shape", [2, 2]) + attr_ints("strides", [2, 2])),
    node("Reshape", ["n", "shape"], ["flat"]), ms("BiasAdd", ["flat", "b", "flat"], ["y"]),
    ms("Pad", ["y", "ends", "v"], ["wide"], attr_word("mode", "constant")),
]
weights = [tensor("k", F32, [2, 2, 3, 3], struct.pack("<36f", *range(36))), f("g", 2), f("b", 2),
           tensor("shape", I64, [3], struct.pack("<3q", 1, 16, 2)),
           tensor("ends", I64, [6], struct.pack("<6q", 0, 1, 0, 0, 0, 1)), tensor("v", F32, [], struct.pack("<f", 7))]
outs = [("sum", F32, [1, 4, 4, 2]), ("p", I8, [1, 2, 2, 2]), ("wide", F32, [1, 17, 3])]
write(model(graph(nodes, [("x", F32, [1, 4, 4, 2]), ("i", I8, [1, 4, 4, 2])], outs, weights),
            opsets=(("", 18), (MS, 1))))
