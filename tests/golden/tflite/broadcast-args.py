# the common shape of two, of which the shorter one has ones in front, and what is broadcast to it
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

word = lambda *v: struct.pack("<%di" % len(v), *v)
write([tensor("x", F32, [3, 1]), tensor("one", I32, [2], word(3, 1)), tensor("other", I32, [3], word(2, 1, 4)),
       tensor("shape", I32, [3]), tensor("y", F32, [2, 3, 4])],
      [op("BROADCAST_ARGS", [1, 2], [3]), op("BROADCAST_TO", [0, 3], [4])], [0], [4])
