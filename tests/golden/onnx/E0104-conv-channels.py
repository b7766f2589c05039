# weights of four channels, an input of three
from onnx_bytes import *

w = tensor("w", F32, [2, 4, 1, 1], bytes(32))
conv = node("Conv", ["x", "w"], ["y"], name="conv")
write(model(graph([conv], ins=[("x", F32, [1, 3, 4, 4])], outs=[("y", F32, [1, 2, 4, 4])], weights=[w])))
