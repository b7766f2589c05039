# both parts of a spectrum: elements 0 and 1 of its pairs
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

write([tensor("frame", F32, [1, 1, 8]), tensor("length", I32, [2], struct.pack("<2i", 1, 8)),
       tensor("spectrum", COMPLEX64, [1, 1, 5]), tensor("re", F32, [1, 1, 5]), tensor("im", F32, [1, 1, 5])],
      [op("RFFT2D", [0, 1], [2]), op("REAL", [2], [3]), op("IMAG", [2], [4])], [0], [3, 4])
