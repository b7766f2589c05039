# a dimension with a name; --dim pins it
from onnx_bytes import *

relu = node("Relu", ["x"], ["y"])
write(model(graph([relu], ins=[("x", F32, ["batch", "n"])], outs=[("y", F32, ["batch", "n"])])))
