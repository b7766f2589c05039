# LabelEncoder of version 1: a list of texts, whose places are the numbers; in both directions
# arenac: check --dump-after infer
from onnx_bytes import *

ML = "ai.onnx.ml"
classes = sub(5, sub(1, "classes_strings") + b"".join(sub(9, s) for s in ["red", "blue"]) + num(20, 8))
nodes = [node("LabelEncoder", ["x"], ["a"], classes + attr_int("default_int64", 9), domain=ML),
         node("LabelEncoder", ["k"], ["b"], classes + attr_word("default_string", "none"), domain=ML)]
write(model(graph(nodes, [("x", STRING, [2]), ("k", I64, [2])], [("a", I64, [2]), ("b", STRING, [2])]),
            opsets=(("", 18), (ML, 1))))
