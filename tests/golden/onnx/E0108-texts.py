# texts that stay texts: operators on their characters, two texts that may be unknown, texts as numbers
# arenac: check
from onnx_bytes import *

TEXT = ("x", STRING, [2])
nodes = [
    node("StringConcat", ["x", "y"], ["a"]),
    node("Equal", ["x", "y"], ["b"]),
    node("Cast", ["x"], ["c"], attr_int("to", F32)),
    node("Cast", ["f"], ["d"], attr_int("to", STRING)),
    node("Add", ["x", "y"], ["e"]),
    node("Unique", ["x"], ["g"]),
    node("TfIdfVectorizer", ["x"], ["h"], attr_ints("pool_int64s", [1])),
]
outs = [("a", STRING, [2]), ("b", BOOL, [2]), ("c", F32, [2]), ("d", STRING, [2]), ("e", STRING, [2]), ("g", STRING, [2]),
        ("h", F32, [2])]
write(model(graph(nodes, [TEXT, ("y", STRING, [2]), ("f", F32, [2])], outs), opsets=(("", 20),)))
