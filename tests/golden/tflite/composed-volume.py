# operators that become several: conv_3d_transpose with a bias and an activation, fake_quant
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

write([tensor("shape", I32, [5], struct.pack("<5i", 1, 4, 2, 2, 1)),
       tensor("w", F32, [3, 1, 1, 1, 2], struct.pack("<6f", *range(6))), tensor("x", F32, [1, 2, 2, 2, 2]),
       tensor("bias", F32, [1], struct.pack("<f", 0.5)), tensor("y", F32, [1, 4, 2, 2, 1]),
       tensor("q", F32, [1, 4, 2, 2, 1])],
      [op("CONV_3D_TRANSPOSE", [0, 1, 2, 3], [4], 106, {1: i32(2), 2: i32(1), 3: i32(1), 4: i8(1)}),
       op("FAKE_QUANT", [4], [5], 58, {0: f32(-1), 1: f32(3), 2: i32(8)})], [2], [5])
