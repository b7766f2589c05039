# the headline says the type of the inputs, bool like any other
from onnx_bytes import *

masks = [(n, BOOL, [2, 3]) for n in ("mask", "padding")]
write(model(graph([node("And", ["mask", "padding"], ["y"])], masks, [("y", BOOL, [2, 3])])))
