# weights of 4 bits in blocks of 32 stay packed: 16,384 codes in 8,192 B, and 512 scales
import struct

from tflite_bytes import *

packed = tensor("w", I4, [64, 256], bytes(i * 37 & 255 for i in range(8192)))
packed[4] = {4: i8(2), 5: {0: i32(1), 1: i32(-1), 2: i32(32)}}
scales = struct.pack("<512e", *(i % 7 + 1 for i in range(512)))
write([packed, tensor("scales", F16, [64, 8], scales), tensor("x", F32, [1, 256]), tensor("y", F32, [1, 64])],
      [op("FULLY_CONNECTED", [2, 0, -1], [3])], [2], [3])
