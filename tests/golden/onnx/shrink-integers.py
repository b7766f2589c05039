# numbers with a fraction shrink integers, and what both conditions hold for grows
# arenac: check --dump-after infer
from onnx_bytes import *

a = attr_float("bias", .5) + attr_float("lambd", -1)
write(model(graph([node("Shrink", ["x"], ["y"], a)], ins=[("x", I32, [3])], outs=[("y", I32, [3])])))
