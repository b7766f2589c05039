# weights of 4 bits with a scale for each block of two: read by a dense layer, and by dequantize
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

half = lambda *v: struct.pack("<%de" % len(v), *v)
packed = tensor("w", I4, [2, 4], bytes([0x21, 0x43, 0x65, 0x87]))
packed[4] = {4: i8(2), 5: {0: i32(1), 1: i32(-1), 2: i32(2)}}
write([packed, tensor("scales", F16, [2, 2], half(1, 0.5, 2, 0.25)), tensor("x", F32, [1, 4]),
       tensor("y", F32, [1, 2]), tensor("wide", F32, [2, 4]), tensor("z", F32, [2, 4])],
      [op("FULLY_CONNECTED", [2, 0, -1], [3]), op("DEQUANTIZE", [0], [4]), op("ADD", [4, 2], [5])], [2], [3, 5])
