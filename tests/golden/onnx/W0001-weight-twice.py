# two weights of one name: the last one counts
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
w = tensor("w", F32, [2, 3], bytes(24))
write(model(graph([add], weights=[w, w])))
