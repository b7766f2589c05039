# a weight with too few bytes
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[tensor("w", F32, [2, 3], bytes(20))])))
