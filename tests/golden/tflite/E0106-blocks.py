# blocks that rows are not made of
import struct

from tflite_bytes import *

packed = tensor("w", I4, [2, 4], bytes(4))
packed[4] = {4: i8(2), 5: {0: i32(1), 1: i32(-1), 2: i32(3)}}
write([packed, tensor("scales", F16, [2, 2], bytes(8)), tensor("x", F32, [1, 4]), tensor("y", F32, [1, 2])],
      [op("FULLY_CONNECTED", [2, 0, -1], [3])], [2], [3])
