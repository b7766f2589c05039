# a size that the caller may choose is stored as 1: the batch is 1, the length is an error
from tflite_bytes import *

write([tensor("x", F32, [1, 1, 4], _7=ints(-1, -1, 4)), tensor("y", F32, [1, 1, 4], _7=ints(-1, -1, 4))],
      [op("RELU", [0], [1])], [0], [1])
