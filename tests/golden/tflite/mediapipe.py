# MediaPipe's custom operators: transposed convolution with a bias, pooling with places, and its reverse
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

pool = struct.pack("<6i", 2, 2, 2, 2, 2, 0)
write([tensor("image", F32, [1, 4, 4, 2]), tensor("best", F32, [1, 2, 2, 2]), tensor("place", F32, [1, 2, 2, 2]),
       tensor("back", F32, [1, 4, 4, 2]), tensor("weights", F32, [1, 2, 2, 2], struct.pack("<8f", *range(8))),
       tensor("bias", F32, [1], struct.pack("<f", 0.5)), tensor("mask", F32, [1, 8, 8, 1])],
      [op("MaxPoolingWithArgmax2D", [0], [1, 2], custom=pool), op("MaxUnpooling2D", [1, 2], [3], custom=pool),
       op("Convolution2DTransposeBias", [3, 4, 5], [6], custom=struct.pack("<3i", 1, 2, 2))], [0], [6])
