# texts where numbers are wanted, and the other way round
# arenac: check
from onnx_bytes import *

ML = "ai.onnx.ml"
texts = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
nodes = [
    node("Equal", ["x", "k"], ["a"]),
    node("Concat", ["x", "k"], ["b"], attr_int("axis", 0)),
    node("OneHotEncoder", ["x"], ["c"], attr_ints("cats_int64s", [1]), domain=ML),
    node("OneHotEncoder", ["k"], ["d"], texts("cats_strings", ["1"]), domain=ML),
    node("LabelEncoder", ["x"], ["e"], attr_ints("keys_int64s", [1]) + attr_ints("values_int64s", [1]), domain=ML),
    node("LabelEncoder", ["k"], ["f"], texts("keys_strings", ["1"]) + attr_ints("values_int64s", [1]), domain=ML),
]
outs = [("a", BOOL, [2]), ("b", STRING, [4]), ("c", F32, [2, 1]), ("d", F32, [2, 1]), ("e", I64, [2]), ("f", I64, [2])]
write(model(graph(nodes, [("x", STRING, [2]), ("k", I32, [2])], outs), opsets=(("", 18), (ML, 2))))
