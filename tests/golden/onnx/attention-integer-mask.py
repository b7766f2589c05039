# a mask of integers is added as floats are
# arenac: check --dump-after infer
from onnx_bytes import *

nodes = [node("Attention", ["q", "k", "v", "mask"], ["y"])]
ins = [("q", F32, [1, 1, 2, 2]), ("k", F32, [1, 1, 3, 2]), ("v", F32, [1, 1, 3, 2]), ("mask", I32, [2, 3])]
write(model(graph(nodes, ins, [("y", F32, [1, 1, 2, 2])]), opsets=(("", 23),)))
