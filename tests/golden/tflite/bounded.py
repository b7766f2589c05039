# arenac: --bound r=9
# a range as long as the data says, of at most nine elements; both outputs are counted alike
import struct

from tflite_bytes import *

word = lambda *v: struct.pack("<%di" % len(v), *v)
tensors = [tensor("x", F32, [3]), tensor("axis", I32, [1], word(0)), tensor("sum", F32, []), tensor("n", I32, []),
           tensor("zero", I32, [], word(0)), tensor("one", I32, [], word(1)), tensor("r", I32, [-1]), tensor("y", I32, [-1])]
write(tensors, [op("SUM", [0, 1], [2]), op("CAST", [2], [3]), op("RANGE", [4, 3, 5], [6]), op("NEG", [6], [7])], [0],
      [6, 7])
