# a weight larger than any machine
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[tensor("w", F32, [1 << 40, 1 << 40], bytes(24))])))
