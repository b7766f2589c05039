# two inputs of one name
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"])], ins=[X, X])))
