# texts as codes: every operator that moves texts, look-ups in both directions, labels, a Cast of integers
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

ML = "ai.onnx.ml"
texts = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
word = lambda name, v: sub(5, sub(1, name) + sub(4, v) + num(20, 3))
text = lambda name, dims, v: tensor(name, STRING, dims, None, b"".join(sub(6, s) for s in v))
whole = lambda name, v: tensor(name, I64, [len(v)], struct.pack("<%dq" % len(v), *v))
cat = attr_int("axis", 1)
nodes = [
    node("Constant", [], ["red"], texts("value_strings", ["red"])),
    node("Identity", ["x"], ["a"]),
    node("Concat", ["a", "words"], ["b"], cat),
    node("Transpose", ["b"], ["c"], attr_ints("perm", [1, 0])),
    node("Reshape", ["c", "shape"], ["d"]),
    node("Unsqueeze", ["d", "zero"], ["e"]),
    node("Squeeze", ["e", "zero"], ["f"]),
    node("Split", ["f"], ["g", "h"], attr_int("num_outputs", 2)),
    node("Slice", ["h", "zero", "two"], ["i"]),
    node("Expand", ["i", "shape2"], ["j"]),
    node("Tile", ["j", "two1"], ["k"]),
    node("Flatten", ["k"], ["l"]),
    node("Gather", ["l", "zero"], ["m"], attr_int("axis", 0)),
    node("Where", ["on", "m", "red"], ["n"]),
    node("ArrayFeatureExtractor", ["n", "two"], ["o"], domain=ML),
    node("Equal", ["o", "red"], ["equal"]),
    node("Cast", ["number"], ["p"], attr_int("to", STRING)),
    node("Cast", ["p"], ["q"], attr_int("to", STRING)),
    node("LabelEncoder", ["q"], ["r"], texts("keys_strings", ["12", "-3", "0"]) + texts("values_strings", ["x", "y", "z"]), domain=ML),
    node("OneHotEncoder", ["r"], ["hot"], texts("cats_strings", ["x", "y"]) + attr_int("zeros", 0), domain=ML),
    node("CategoryMapper", ["r"], ["category"], texts("cats_strings", ["x", "z"]) + attr_ints("cats_int64s", [4, 5]), domain=ML),
    node("Size", ["q"], ["size"]),
]
outs = [("o", STRING, [1, 1]), ("equal", BOOL, [1, 1]), ("r", STRING, [2]), ("hot", F32, [2, 2]), ("category", I64, [2]),
        ("size", I64, [])]
write(model(graph(nodes, [("x", STRING, [2, 1]), ("number", I64, [2]), ("on", BOOL, [1])], outs,
                  [text("words", [2, 3], ["a", "b", "été", "", "red", "\\"]), whole("shape", [2, 4]), whole("zero", [0]),
                   whole("two", [2]), whole("shape2", [2, 4]), whole("two1", [2, 1])]),
            opsets=(("", 18), (ML, 2))))
