# external data in a file that is not there
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[external("w", [2, 3], location="nowhere.bin")])))
