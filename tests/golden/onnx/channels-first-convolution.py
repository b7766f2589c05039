# channels first: what is left of the transposes
# arenac: --dump-after dead
from onnx_bytes import *

w = tensor("w", F32, [2, 3, 1, 1], bytes(24))
nodes = [node("Conv", ["x", "w"], ["a"], name="conv"), node("Relu", ["a"], ["y"])]
write(model(graph(nodes, ins=[("x", F32, [1, 3, 4, 4])], outs=[("y", F32, [1, 2, 4, 4])], weights=[w])))
