# external data behind the end of its file
# arenac: plan E0016-external-offset.onnx
from onnx_bytes import *

with open("short.bin", "wb") as f:
    f.write(bytes(20))
add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[external("w", [2, 3], location="short.bin", offset=1 << 40, length=24)])))
