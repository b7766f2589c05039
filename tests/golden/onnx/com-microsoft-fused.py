# com.microsoft: activations, products and convolutions that its optimisers fuse, and their relatives
# arenac: check --dump-after infer
import struct
from math import prod

from onnx_bytes import *

MS = "com.microsoft"
f = lambda name, *d: tensor(name, F32, list(d), b"".join(struct.pack("<f", (i % 7 - 3) / 8) for i in range(prod(d))))
word = lambda name, v: sub(5, sub(1, name) + sub(4, v) + num(20, 3))
real = lambda name, v: sub(5, sub(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))
ms = lambda op, ins, out, attrs=b"": node(op, ins, [out], attrs, domain=MS)
nodes = [
    ms("Gelu", ["x"], "gelu"), ms("FastGelu", ["gelu", "b8"], "fast"), ms("QuickGelu", ["fast"], "quick", real("alpha", 1.5)),
    ms("BiasGelu", ["quick", "b8"], "biasgelu"), ms("BiasSplitGelu", ["biasgelu3", "b8"], "split"),
    node("Unsqueeze", ["biasgelu", "zero"], ["biasgelu3"]),
    ms("BiasSoftmax", ["biasgelu", "b8"], "softmax", attr_int("axis", 1) + attr_int("is_inner_broadcast", 1)),
    ms("FusedMatMul", ["softmax", "w"], "product", attr_int("transB", 1) + real("alpha", 0.5)),
    ms("TransposeMatMul", ["softmax", "w"], "turned", attr_int("transB", 1)),
    ms("FusedGemm", ["product", "v", "b8"], "gemm", word("activation", "Relu")),
    ms("Trilu", ["gemm"], "lower", attr_int("upper", 0)), ms("ExpandDims", ["lower", "one"], "wide"),
    ms("CDist", ["gemm", "x"], "far", word("metric", "sqeuclidean")),
    ms("FusedConv", ["image", "k"], "conv", word("activation", "Relu") + attr_ints("pads", [1, 1, 1, 1])),
    ms("NhwcFusedConv", ["last", "k"], "nhwc", word("activation", "Tanh")),
    ms("GroupNorm", ["last", "b2", "b2"], "group", attr_int("groups", 1) + attr_int("activation", 1)),
]
weights = [f("b8", 8), f("b2", 2), f("w", 4, 8), f("v", 4, 8), f("k", 2, 2, 3, 3), tensor("zero", I64, [1], bytes(8)),
           tensor("one", I32, [], bytes([1, 0, 0, 0]))]
ins = [("x", F32, [3, 8]), ("image", F32, [1, 2, 4, 4]), ("last", F32, [1, 4, 4, 2])]
outs = [("split", F32, [1, 3, 4]), ("turned", F32, [3, 4]), ("wide", F32, [3, 1, 8]), ("far", F32, [3, 3]),
        ("conv", F32, [1, 2, 4, 4]), ("nhwc", F32, [1, 2, 2, 2]), ("group", F32, [1, 4, 4, 2])]
write(model(graph(nodes, ins, outs, weights), opsets=(("", 18), (MS, 1))))
