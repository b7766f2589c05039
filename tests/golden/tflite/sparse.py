# a constant stored as a tree, [4,4] in blocks of 2 x 1: of the block rows the first has column 1, the second 0 and 3
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

columns = {0: i8(1), 2: i8(1), 3: {0: ints(0, 1, 3)}, 4: i8(3), 5: {0: bytes_of(1, 0, 3)}}
shape = {0: ints(0, 1, 2), 1: ints(0), 2: [{1: i32(2)}, columns, {1: i32(2)}]}
write([tensor("packed", F32, [4, 4], struct.pack("<6f", 1, 2, 3, 4, 5, 6), _6=shape), tensor("weights", F32, [4, 4]),
       tensor("x", F32, [4, 4]), tensor("y", F32, [4, 4])],
      [op("DENSIFY", [0], [1]), op("ADD", [1, 2], [3])], [2], [3])
