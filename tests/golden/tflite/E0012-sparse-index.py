# a sparse constant with an index outside of its dimension
import struct

from tflite_bytes import *

columns = {0: i8(1), 2: i8(1), 3: {0: ints(0, 1, 2)}, 4: i8(3), 5: {0: bytes_of(1, 4)}}
shape = {0: ints(0, 1), 2: [{1: i32(2)}, columns]}
write([tensor("packed", F32, [2, 4], struct.pack("<2f", 1, 2), _6=shape), tensor("x", F32, [2, 4]),
       tensor("y", F32, [2, 4])], [op("ADD", [0, 1], [2])], [1], [2])
