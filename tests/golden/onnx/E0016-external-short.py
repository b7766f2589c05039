# external data of 24 bytes in a file of 20
# arenac: plan E0016-external-short.onnx
from onnx_bytes import *

with open("short.bin", "wb") as f:
    f.write(bytes(20))
add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[external("w", [2, 3], location="short.bin")])))
