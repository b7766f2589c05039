# axes and ends are operands in these files
from tflite_bytes import *

write([tensor("x", F32, [6, 4]), tensor("axis", I32, [1], ints(0)), tensor("mean", F32, [4]), tensor("cut", F32, [6, 4])],
      [op("MEAN", [0], [2]), op("STRIDED_SLICE", [0, 1, -1, 1], [3], 32, {})], [0], [2, 3])
