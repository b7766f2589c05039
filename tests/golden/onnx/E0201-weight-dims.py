# a weight with a negative dimension
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[tensor("w", F32, [-2, 3], bytes(24))])))
