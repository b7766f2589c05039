# an operator that needs one size names the branch that decides it, the input, and the option that chooses
import struct

from onnx_bytes import *

floats = lambda name, dims, n: tensor(name, F32, dims, struct.pack("<%df" % n, *(i + 1 for i in range(n))))
out = lambda name: [(name, F32, [])]
once = graph([node("Neg", ["x"], ["once"])], (), out("once"))
twice = graph([node("Concat", ["x", "x"], ["twice"], attr_int("axis", 0))], (), out("twice"))
nodes = [
    node("Equal", ["rate", "sixteen"], ["fast"]),
    node("If", ["fast"], ["frames"], attr_graph("then_branch", once) + attr_graph("else_branch", twice)),
    node("LSTM", ["frames", "w", "r"], ["", "last"], attr_int("hidden_size", 1)),
]
weights = [floats("w", [1, 4, 2], 8), floats("r", [1, 4, 1], 4), tensor("sixteen", I64, [], struct.pack("<q", 16000))]
write(model(graph(nodes, [("x", F32, [2, 1, 2]), ("rate", I64, [])], [("last", F32, [1, 1, 1])], weights)))
