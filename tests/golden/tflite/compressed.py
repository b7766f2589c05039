# constants of TFLite Micro's compressed models: a table of values and pruning; places of elements in i32
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

table = bytes([0, 1, 0, 0, 1, 2, 4]).ljust(16, b"\0") + struct.pack("<4f", -1, 0.5, 2, 8)
pruned = bytes([2, 1, 0, 0, 1]).ljust(16, b"\0") + struct.pack("<2f", 3, 4)
window = struct.pack("<6i", 2, 1, 1, 2, 2, 0)
write([tensor("indices", U8, [2], bytes([0b00011011, 0b11100100])), tensor("table", U8, [32], table),
       tensor("bits", U8, [1], bytes([0b01000010])), tensor("values", U8, [24], pruned),
       tensor("a", F32, [1, 2, 2, 2]), tensor("b", F32, [1, 2, 2, 2]), tensor("x", F32, [1, 2, 2, 2]),
       tensor("xa", F32, [1, 2, 2, 2]), tensor("sum", F32, [1, 2, 2, 2]), tensor("place", I32, [1, 2, 2, 2]),
       tensor("y", F32, [1, 3, 3, 2])],
      [op("TFLM_DECODE", [0, 1, 2, 3], [4, 5]), op("ADD", [6, 4], [7]), op("ADD", [7, 5], [8]),
       op("LiteRtMaxUnpooling2D", [8, 9], [10], custom=window)], [6, 9], [10])
