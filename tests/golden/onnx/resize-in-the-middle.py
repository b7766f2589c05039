# the fifth of nine lies at (4 + 1/2) * 7/9 - 1/2 = 3, whatever the rounding
# arenac: --dump-after dead
import struct

from onnx_bytes import *

size = tensor("s", I64, [4], struct.pack("<4q", 1, 1, 3, 9))
attrs = attr_word("mode", "nearest") + attr_word("coordinate_transformation_mode", "half_pixel")
resize = node("Resize", ["x", "", "", "s"], ["y"], attrs + attr_word("nearest_mode", "floor"))
write(model(graph([resize], [("x", F32, [1, 1, 4, 7])], [("y", F32, [1, 1, 3, 9])], [size])))
