# where the first window begins is not settled when SAME_LOWER needs less than no padding
# arenac: check
from onnx_bytes import *

attrs = attr_ints("kernel_shape", [1, 1]) + attr_ints("strides", [3, 1]) + attr_word("auto_pad", "SAME_LOWER")
write(model(graph([node("AveragePool", ["x"], ["y"], attrs)], [("x", F32, [1, 1, 9, 2])],
                  [("y", F32, [1, 1, 3, 2])])))
