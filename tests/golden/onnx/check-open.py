# arenac: check
# a model whose sizes are open is not at fault
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"])], ins=(("x", F32, ["batch", "seq"]),), outs=(("y", F32, ["batch", "seq"]),))))
