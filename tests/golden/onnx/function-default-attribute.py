# a function's attribute has its default unless the call gives it; the call of the second gives it
# arenac: --dump-after dead
from onnx_bytes import *

alpha = sub(5, sub(1, "alpha") + num(20, 1) + sub(21, "slope"))
default = bytes([11 << 3 | 2]) + attr_float("slope", 0.25)[1:]
leaky = function("Leaky", [node("LeakyRelu", ["x"], ["y"], alpha)]) + default
first = node("Leaky", ["x"], ["m"], domain="own")
second = node("Leaky", ["m"], ["y"], attr_float("slope", 0.5), domain="own")
write(model(graph([first, second]), [leaky], **OWN))
