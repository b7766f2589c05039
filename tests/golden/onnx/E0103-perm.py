# a permutation with a dimension twice
from onnx_bytes import *

write(model(graph([node("Transpose", ["x"], ["y"], attr_ints("perm", [0, 0]), name="turn")])))
