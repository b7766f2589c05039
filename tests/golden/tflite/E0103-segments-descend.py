# segments that do not ascend
import struct

from tflite_bytes import *

write([tensor("x", F32, [2, 3]), tensor("ids", I32, [2], struct.pack("<2i", 1, 0)), tensor("y", F32, [2, 3])],
      [op("SEGMENT_SUM", [0, 1], [2])], [0], [2])
