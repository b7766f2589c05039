# an operator that needs one size names the branch that decides it, the input, and the option that chooses
import struct

from onnx_bytes import *

out = lambda name: [(name, F32, [])]
once = graph([node("Neg", ["x"], ["once"])], (), out("once"))
twice = graph([node("Concat", ["x", "x"], ["twice"], attr_int("axis", 2))], (), out("twice"))
nodes = [
    node("Equal", ["rate", "sixteen"], ["fast"]),
    node("If", ["fast"], ["frames"], attr_graph("then_branch", once) + attr_graph("else_branch", twice)),
    node("AveragePool", ["frames"], ["mean"], attr_ints("kernel_shape", [2])),
]
weights = [tensor("sixteen", I64, [], struct.pack("<q", 16000))]
write(model(graph(nodes, [("x", F32, [1, 2, 4]), ("rate", I64, [])], [("mean", F32, [1, 2, "n"])], weights)))
