# a sum of two shapes
from onnx_bytes import *

write(model(graph([node("Add", ["x", "i"], ["y"], name="mix")], ins=[X, ("i", F32, [2, 4])])))
