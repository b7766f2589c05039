# a window of 8 in an image of 5 with a pad of 1 on each side: since opset 19 the mean is that of the 49 elements that
# are there, pads included
# arenac: check --dump-after infer
from onnx_bytes import *

attrs = attr_ints("kernel_shape", [8, 8]) + attr_ints("strides", [4, 4]) + attr_ints("pads", [1, 1, 1, 1])
pool = node("AveragePool", ["x"], ["y"], attrs + attr_int("count_include_pad", 1))
write(model(graph([pool], [("x", F32, [1, 1, 5, 5])], [("y", F32, [1, 1, 1, 1])]), opsets=(("", 19),)))
