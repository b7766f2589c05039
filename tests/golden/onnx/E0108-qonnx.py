# QONNX that is wrong, or not supported: bits that data gives, none, scales that do not fit, another rounding
from onnx_bytes import *

Q = "qonnx.custom_op.general"
weights = [tensor("s", F32, [], struct.pack("<f", .5)), tensor("z", F32, [], struct.pack("<f", 0)),
           tensor("four", F32, [], struct.pack("<f", 4)), tensor("most", F32, [4], struct.pack("<4f", 1, 2, 3, 4))]
nodes = [node("Quant", ["x", "s", "z", "b"], ["y"], b"", "computed", Q),
         node("Quant", ["x", "s", "z", "z"], ["y1"], b"", "none", Q),
         node("Quant", ["x", "most", "z", "four"], ["y2"], b"", "scales", Q),
         node("Quant", ["x", "s", "z", "most"], ["y3"], b"", "several", Q),
         node("Quant", ["x", "s", "z", "four"], ["y4"], attr_word("rounding_mode", "STOCHASTIC"), "dice", Q)]
outs = [(y, F32, [2, 3]) for y in ("y", "y1", "y2", "y3", "y4")]
write(model(graph(nodes, [X, ("b", F32, [])], outs, weights), opsets=(("", 18), (Q, 1))))
