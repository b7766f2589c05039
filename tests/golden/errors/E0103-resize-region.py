# a region of interest that begins at no number
import struct

from onnx_bytes import *

roi = tensor("r", F32, [8], struct.pack("<8f", 0, 0, 0, float("nan"), 1, 1, 1, 1))
scales = tensor("s", F32, [4], struct.pack("<4f", 1, 1, 2, 2))
attrs = attr_word("mode", "linear") + attr_word("coordinate_transformation_mode", "tf_crop_and_resize")
resize = node("Resize", ["x", "r", "s"], ["y"], attrs)
write(model(graph([resize], [("x", F32, [1, 1, 7, 7])], [("y", F32, [1, 1, 14, 14])], [roi, scales])))
