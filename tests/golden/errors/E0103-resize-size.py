# a size beyond everything
import struct

from onnx_bytes import *

scales = tensor("s", F32, [4], struct.pack("<4f", 1, 1, 1e23, 2))
resize = node("Resize", ["x", "", "", "s"], ["y"], attr_word("mode", "linear"))
write(model(graph([resize], [("x", F32, [1, 1, 7, 7])], [("y", F32, [1, 1, 9, 14])], [scales])))
