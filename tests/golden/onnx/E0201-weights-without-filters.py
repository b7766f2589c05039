# sizes 0 and -2^63 of computed filters and of a batch's channels: nothing divides by them
from onnx_bytes import *

U8 = 2
scale, zero = tensor("s", F32, [], b"\0\0\x80\x3f"), tensor("z", U8, [], b"\0")
quantised = node("QLinearConv", ["a", "s", "z", "w", "s", "z", "s", "z"], ["y"], name="no filters")
plain = node("ConvInteger", ["a", "v"], ["p"], name="negative filters")
training = attr_int("training_mode", 1)
batch = node("BatchNormalization", ["x", "c", "c", "c", "c"], ["q", "m", "n"], training, "no channels")
filters = (("w", U8, [0, 1, 1, 1]), ("v", U8, [-(2**63), 1, 1, 1]))
ins = (("a", U8, [1, 1, 4, 4]), *filters, ("x", F32, [1, 0, 2]), ("c", F32, [0]))
outs = (("y", U8, [1]), ("p", I32, [1]), ("q", F32, [1]))
write(model(graph([quantised, plain, batch], ins, outs, [scale, zero])))
