# a window of size 0 in the options of a custom operator
import struct

from tflite_bytes import *

write([tensor("image", F32, [1, 4, 4, 2]), tensor("best", F32, [1, 2, 2, 2]), tensor("place", F32, [1, 2, 2, 2])],
      [op("MaxPoolingWithArgmax2D", [0], [1, 2], custom=struct.pack("<6i", 2, 2, 2, 0, 2, 0))], [0], [1, 2])
