# com.microsoft: sums and products of bytes, products with what follows them, and an LSTM whose weights are bytes
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8, I8 = "com.microsoft", 2, 3
s = lambda name, v: tensor(name, F32, [], struct.pack("<f", v))
z = lambda name, dtype, v: tensor(name, dtype, [], bytes([v]))
f = lambda name, *d: tensor(name, F32, list(d), b"".join(struct.pack("<f", i % 5 - 2) for i in range(d[0] * (d + (1,))[1])))
i8 = lambda name, *d: tensor(name, I8, list(d), bytes(i % 11 for i in range(d[0] * d[1] * (d + (1, 1))[2] * (d + (1, 1))[3])))
ms = lambda op, ins, outs, attrs=b"": node(op, ins, outs, attrs, domain=MS)
axes = attr_ints("axes", [1]) + attr_int("keepdims", 0)
nodes = [
    ms("QLinearConv", ["x", "s", "z", "k", "s", "n", "s", "z"], ["c"], attr_int("channels_last", 1)),
    ms("MulInteger", ["c", "z", "c", "z"], ["square"]), ms("ReduceSumInteger", ["c"], ["sum"], axes),
    ms("QLinearReduceMean", ["c", "s", "z", "s", "z"], ["mean"], axes),
    ms("GemmFastGelu", ["v", "w", "b"], ["g"]),
    ms("FusedMatMulActivation", ["g", "w"], ["y"],
       attr_int("transB", 1) + attr_word("activation", "LeakyRelu") + attr_float("activation_alpha", 0.5)),
    ms("DynamicQuantizeLSTM", ["t", "wx", "wh", "", "", "", "", "", "ls", "lz", "ls", "lz"], ["h"],
       attr_int("hidden_size", 2) + attr_word("direction", "forward")),
]
weights = [s("s", 0.5), z("z", U8, 128), z("n", I8, 0), i8("k", 2, 1, 2, 2), f("w", 3, 2), f("b", 2), i8("wx", 1, 3, 8),
           i8("wh", 1, 2, 8), tensor("ls", F32, [1], struct.pack("<f", 0.0625)), tensor("lz", I8, [1], bytes(1))]
ins = [("x", U8, [1, 3, 3, 1]), ("v", F32, [2, 3]), ("t", F32, [2, 1, 3])]
outs = [("square", I32, [1, 2, 2, 2]), ("sum", I32, [1, 2, 2]), ("mean", U8, [1, 2, 2]), ("y", F32, [2, 3]),
        ("h", F32, [2, 1, 1, 2])]
write(model(graph(nodes, ins, outs, weights), opsets=(("", 18), (MS, 1))))
