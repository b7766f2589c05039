# the number of parts is a word, beside a list of sizes
import struct

from onnx_bytes import *

a = attr_word("num_outputs", "two")
write(model(graph([node("Split", ["x", "s"], ["y", "z"], a)], outs=[("y", F32, [1, 3]), ("z", F32, [1, 3])],
                  weights=[tensor("s", I64, [2], struct.pack("<2q", 1, 1))])))
