# a weight that is declared as an input of another shape
# arenac: --strict
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], ins=[X, ("w", F32, [3])], weights=[tensor("w", F32, [2, 3], bytes(24))])))
