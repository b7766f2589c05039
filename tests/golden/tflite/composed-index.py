# operators that become several: embedding_lookup of rows with scales, sparse_to_dense, bucketize, segment_sum
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

word = lambda *v: struct.pack("<%di" % len(v), *v)
write([tensor("ids", I32, [2]), tensor("table", I8, [3, 2], bytes(range(6)), [0.5, 0.25, 2]),
       tensor("rows", F32, [2, 2]), tensor("segments", I32, [2], word(0, 0)), tensor("sum", F32, [1, 2]),
       tensor("buckets", I32, [1, 2]), tensor("at", I32, [2, 2], word(0, 0, 1, 1)),
       tensor("shape", I32, [2], word(2, 3)), tensor("one", I32, [], word(1)), tensor("eye", I32, [2, 3]),
       tensor("y", I32, [2, 3]), tensor("three", I32, [1, 3], word(1, 2, 3))],
      [op("EMBEDDING_LOOKUP", [0, 1], [2]), op("SEGMENT_SUM", [2, 3], [4]),
       op("BUCKETIZE", [4], [5], 115, {0: floats(-1, 0, 1.5)}), op("SPARSE_TO_DENSE", [6, 7, 0, 8], [9]),
       op("ADD", [9, 11], [10])], [0], [5, 10])
