# arenac: show
# operators of ONNX depend on the sizes of the inputs: with an open one show says so
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"])], ins=(("x", F32, [4, "seq"]),), outs=(("y", F32, [4, "seq"]),))))
