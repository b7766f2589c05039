# an axis that a double cannot hold
import struct

from onnx_bytes import *

far = tensor("far", I64, [], struct.pack("<q", 2**63 - 1))
write(model(graph([node("CumSum", ["x", "far"], ["y"])], [("x", F32, [2, 3])], [("y", F32, [2, 3])], [far])))
