# a range as long as the data says, and branches that differ in two dimensions
from onnx_bytes import *

one, zero = tensor("one", I64, [], bytes([1] + [0] * 7)), tensor("zero", I64, [], bytes(8))
branch = lambda name, k: graph([node("Reshape", ["x", name], [name + "_y"])], ins=(), outs=((name + "_y", F32, k),))
shape = lambda name, a, b: tensor(name, I64, [2], bytes([a] + [0] * 7 + [b] + [0] * 7))
write(model(graph([node("ReduceSum", ["x"], ["s"], attr_int("keepdims", 0)), node("Cast", ["s"], ["n"], attr_int("to", 7)),
                   node("Range", ["zero", "n", "one"], ["r"], name="range"), node("Cast", ["s"], ["c"], attr_int("to", 9)),
                   node("If", ["c"], ["i"], attr_graph("then_branch", branch("p", [6, 1])) +
                        attr_graph("else_branch", branch("q", [3, 2])), name="either")],
                  outs=(("r", I64, ["k"]), ("i", F32, ["a", "b"])), weights=[one, zero, shape("p", 6, 1), shape("q", 3, 2)])))
