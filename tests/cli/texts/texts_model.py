"""A model with texts, without the onnx package: texts_model.py N > MODEL; N: further words of its list."""
import struct
import sys

from onnx_bytes import *
from wire import data as sub, number as num, varint

ML, words = "ai.onnx.ml", ["w%d" % i for i in range(int(sys.argv[1]))]
COLORS = ["red", "été", "", "a \"b\" \\ ??/ \n%s*/"]
texts = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
real = lambda x: varint(7 << 3 | 5) + struct.pack("<f", x)
reals = lambda name, v: sub(5, sub(1, name) + b"".join(map(real, v)) + num(20, 6))
coefficients = (reals("coefficients", [1, 2, 3, 4, 5, 3, 2, 1, 4, 0, -1, 0, 2, 1, 6]) +
                reals("intercepts", [0.5, 0, -0.5]))
numbers = attr_ints("values_int64s", [10, 20, 30, 40] + list(range(len(words)))) + attr_int("default_int64", -7)
names = texts("values_strings", ["ten", "twenty"]) + attr_word("default_string", "many")
nodes = [
    node("OneHotEncoder", ["color"], ["hot"], texts("cats_strings", COLORS), domain=ML),
    node("Reshape", ["hot", "shape"], ["flat"]),
    node("Concat", ["flat", "w"], ["features"], attr_int("axis", 1)),
    node("LinearClassifier", ["features"], ["label", "scores"],
         texts("classlabels_strings", ["no", "yes", "été"]) + coefficients, domain=ML),
    node("LabelEncoder", ["color"], ["number"], texts("keys_strings", COLORS + words) + numbers, domain=ML),
    node("LabelEncoder", ["number"], ["name"], attr_ints("keys_int64s", [10, 20]) + names, name="to_texts", domain=ML),
    node("Equal", ["color", "red"], ["is_red"]),
]
sys.stdout.buffer.write(model(
    graph(nodes, [("color", STRING, [2, 1]), ("w", F32, [2, 1])],
          [("label", STRING, [2]), ("scores", F32, [2, 3]), ("number", I64, [2, 1]), ("name", STRING, [2, 1]),
           ("is_red", BOOL, [2, 1])],
          [tensor("shape", I64, [2], struct.pack("<2q", 2, 4)), tensor("red", STRING, [1], None, sub(6, "red"))]),
    opsets=(("", 19), (ML, 2))))
