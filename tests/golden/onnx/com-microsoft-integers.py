# com.microsoft: products, pools, choices and activations of integers
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8, I8, I16 = "com.microsoft", 2, 3, 5
s = lambda name, v: tensor(name, F32, [], struct.pack("<f", v))
z = lambda name, v: tensor(name, U8, [], bytes([v]))
ms = lambda op, ins, out, attrs=b"": node(op, ins, [out], attrs, domain=MS)
real = lambda name, v: sub(5, sub(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))
q = ["s", "z"]
nodes = [
    ms("QLinearAdd", ["x"] + q + ["x"] + q + ["t", "z"], "add"), ms("QLinearMul", ["add", "t", "z", "x"] + q + ["t", "n"], "mul"),
    ms("QLinearLeakyRelu", ["mul", "t", "n"] + q, "leaky", real("alpha", 0.25)),
    ms("QLinearSoftmax", ["leaky"] + q + ["u", "n"], "soft", attr_int("opset", 13)),
    ms("QLinearWhere", ["c", "soft", "u", "n", "x"] + q + ["t", "z"], "where"),
    ms("QGemm", ["where", "t", "z", "w", "s", "zi", "", "t", "z"], "gemm"),
    ms("MatMulIntegerToFloat", ["gemm", "v", "t", "s"], "real"),
    ms("QLinearAveragePool", ["image"] + q + ["t", "z"], "pool", attr_ints("kernel_shape", [2, 2])),
    ms("QLinearGlobalAveragePool", ["image"] + q + ["t", "z"], "mean"),
    ms("QuantizeLinear", ["real", "s", "short"], "q16"), ms("DequantizeLinear", ["q16", "s", "short"], "y"),
    ms("MatMulInteger16", ["q16", "w16"], "long"),
]
weights = [s("s", 0.5), s("t", 0.25), s("u", 0.00390625), z("z", 128), z("n", 0), tensor("zi", I8, [], bytes(1)),
           tensor("w", I8, [3, 4], bytes(range(12))), tensor("v", I8, [4, 2], bytes(range(8))),
           tensor("short", I16, [], bytes([3, 0])), tensor("w16", I16, [2, 2], bytes(range(8)))]
ins = [("x", U8, [2, 3]), ("c", BOOL, [2, 3]), ("image", U8, [1, 2, 4, 4])]
outs = [("pool", U8, [1, 2, 3, 3]), ("mean", U8, [1, 2, 1, 1]), ("y", F32, [2, 2]), ("long", I32, [2, 2])]
write(model(graph(nodes, ins, outs, weights), opsets=(("", 18), (MS, 1))))
