# two inputs of one name
# arenac: --strict
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"])], ins=[X, X])))
