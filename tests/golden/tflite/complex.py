# the size of a spectrum: complex numbers are pairs
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

write([tensor("frame", F32, [1, 1, 6]), tensor("length", I32, [2], struct.pack("<2i", 1, 8)),
       tensor("spectrum", COMPLEX64, [1, 1, 5]), tensor("one", COMPLEX64, [1, 5]), tensor("size", F32, [1, 5]),
       tensor("shape", I32, [2], struct.pack("<2i", -1, 5))],
      [op("RFFT2D", [0, 1], [2]), op("RESHAPE", [2, 5], [3]), op("COMPLEX_ABS", [3], [4])], [0], [4])
