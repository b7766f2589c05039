# external data outside of the model's folder
from onnx_bytes import *

add = node("Add", ["x", "w"], ["y"])
write(model(graph([add], weights=[external("w", [2, 3], location="../short.bin")])))
