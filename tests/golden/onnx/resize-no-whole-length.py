# 7 * 1.3 is no whole number: where corners are aligned, ONNX Runtime places elements in another way than the reference
# arenac: check
import struct

from onnx_bytes import *

scales = tensor("s", F32, [4], struct.pack("<4f", 1, 1, 1.3, 1.3))
attrs = attr_word("mode", "linear") + attr_word("coordinate_transformation_mode", "align_corners")
resize = node("Resize", ["x", "", "s"], ["y"], attrs)
write(model(graph([resize], [("x", F32, [1, 1, 7, 7])], [("y", F32, [1, 1, 9, 9])], [scales])))
