# weights of 4 bits: those of a product are constants, those of a table are unpacked behind the Gather
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS, U8 = "com.microsoft", 2
bytes_ = lambda name, dims, n: tensor(name, U8, dims, bytes(i * 37 & 255 for i in range(n)))
floats = lambda name, dims, n: tensor(name, F32, dims, struct.pack("<%df" % n, *(i + 1 for i in range(n))))
a = attr_int("N", 2) + attr_int("K", 16) + attr_int("block_size", 16) + attr_int("bits", 4)
nodes = [
    node("MatMulNBits", ["x", "w", "s", "z"], ["y"], a, domain=MS),
    node("GatherBlockQuantized", ["t", "i", "ts"], ["e"], attr_int("block_size", 16) + attr_int("bits", 4), domain=MS),
]
weights = [bytes_("w", [2, 1, 8], 16), floats("s", [2, 1], 2), bytes_("z", [2, 1], 2), bytes_("t", [3, 16], 48),
           floats("ts", [3, 2], 6)]
write(model(graph(nodes, [("x", F32, [1, 16]), ("i", I64, [2])], [("y", F32, [1, 2]), ("e", F32, [2, 32])], weights),
            opsets=(("", 18), (MS, 1))))
