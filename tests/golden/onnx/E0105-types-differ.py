# a sum of two types
from onnx_bytes import *

write(model(graph([node("Add", ["x", "i"], ["y"], name="mix")], ins=[X, ("i", I32, [2, 3])])))
