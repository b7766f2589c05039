# since version 11 the pads are an operand, which has to be there
from onnx_bytes import *

pad = node("Pad", ["x", "", "v"], ["y"])
write(model(graph([pad], [("x", F32, [2, 2]), ("v", F32, [])], [("y", F32, [2, 2])])))
