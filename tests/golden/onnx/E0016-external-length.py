# external data of another length than the tensor
# arenac: plan E0016-external-length.onnx
from onnx_bytes import *

with open("short.bin", "wb") as f:
    f.write(bytes(20))
add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[external("w", [2, 3], location="short.bin", length=16)])))
