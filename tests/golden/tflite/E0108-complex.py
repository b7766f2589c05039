# complex numbers that are added, and are an output
import struct

from tflite_bytes import *

write([tensor("frame", F32, [1, 8]), tensor("length", I32, [2], struct.pack("<2i", 1, 8)),
       tensor("spectrum", COMPLEX64, [1, 5]), tensor("twice", COMPLEX64, [1, 5]), tensor("real", F32, [1, 5])],
      [op("RFFT2D", [0, 1], [2]), op("ADD", [2, 2], [3]), op("REAL", [3], [4])], [0], [2, 4])
