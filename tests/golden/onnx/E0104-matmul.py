# a product of matrices that do not fit
from onnx_bytes import *

write(model(graph([node("MatMul", ["x", "i"], ["y"], name="mul")], ins=[X, ("i", F32, [4, 2])])))
