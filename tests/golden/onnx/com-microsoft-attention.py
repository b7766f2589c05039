# one step of a decoder writes keys and values behind those of the past, whose lengths are data
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS = "com.microsoft"
a = attr_int("num_heads", 2) + attr_int("kv_num_heads", 1)
nodes = [node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "len", "total"], ["y", "k1", "v1"], a, domain=MS)]
ins = [("q", F32, [1, 1, 8]), ("k", F32, [1, 1, 4]), ("v", F32, [1, 1, 4]), ("pk", F32, [1, 1, 3, 4]),
       ("pv", F32, [1, 1, 3, 4]), ("len", I32, [1])]
outs = [("y", F32, [1, 1, 8]), ("k1", F32, [1, 1, 3, 4]), ("v1", F32, [1, 1, 3, 4])]
total = tensor("total", I32, [], struct.pack("<i", 3))
write(model(graph(nodes, ins, outs, [total]), opsets=(("", 18), (MS, 1))))
