# the headline says all types of the inputs
from onnx_bytes import *

write(model(graph([node("Where", ["mask", "x", "zero"], ["y"])], [("mask", BOOL, [2, 3]), X, ("zero", F32, [1])])))
