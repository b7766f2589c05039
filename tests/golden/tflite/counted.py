# results as long as the data says: where, unique, a slice of the rows that are there, and gather_nd
import struct

from tflite_bytes import *

word = lambda *v: struct.pack("<%di" % len(v), *v)
write([tensor("flags", BOOL, [4]), tensor("x", F32, [4, 2]), tensor("at", I64, [-1, 1]), tensor("rows", F32, [-1, 2]),
       tensor("from", I32, [2], word(1, 0)), tensor("all", I32, [2], word(0, 0)), tensor("by", I32, [2], word(1, 1)),
       tensor("later", F32, [-1, 2]), tensor("ids", I32, [3]), tensor("values", I32, [-1]), tensor("which", I32, [3])],
      [op("WHERE", [0], [2]), op("GATHER_ND", [1, 2], [3]),
       op("STRIDED_SLICE", [3, 4, 5, 6], [7], 32, {0: i32(2), 1: i32(3)}), op("UNIQUE", [8], [9, 10], 80, {})],
      [0, 1, 8], [3, 7, 9, 10])
