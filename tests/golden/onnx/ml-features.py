# operators of ai.onnx.ml other than trees: features, linear models, support vectors, labels
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

ML = "ai.onnx.ml"
ints, whole = attr_ints, attr_int
text = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
word = lambda name, v: sub(5, sub(1, name) + sub(4, v) + num(20, 3))
reals = lambda name, v: sub(5, sub(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6))
real = lambda name, v: sub(5, sub(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))
machine = (reals("kernel_params", [0.5, 0, 3]) + word("kernel_type", "RBF") + reals("support_vectors", [1, 2, 3, 4, 5, 6]))
ml = lambda op, ins, outs, attrs: node(op, ins, outs, attrs, domain=ML)
nodes = [
    ml("Normalizer", ["x"], ["n"], word("norm", "L2")),
    ml("Imputer", ["n"], ["i"], reals("imputed_value_floats", [9]) + real("replaced_value_float", 2)),
    ml("Binarizer", ["i"], ["b"], real("threshold", 0.5)),
    ml("ArrayFeatureExtractor", ["b", "at"], ["a"], b""),
    ml("FeatureVectorizer", ["a", "x"], ["v"], ints("inputdimensions", [2, 3])),
    ml("OneHotEncoder", ["k"], ["h"], ints("cats_int64s", [0, 1, 2])),
    ml("LabelEncoder", ["k"], ["l"], ints("keys_int64s", [1, 2]) + ints("values_int64s", [7, 8]) + whole("default_int64", 5)),
    ml("LinearClassifier", ["x"], ["c", "p"], reals("coefficients", [1, 2, 3, 4, 5, 6]) + reals("intercepts", [1, 2]) +
       ints("classlabels_ints", [4, 9]) + word("post_transform", "SOFTMAX")),
    ml("LinearRegressor", ["x"], ["r"], reals("coefficients", [1, 2, 3]) + reals("intercepts", [1])),
    ml("SVMClassifier", ["x"], ["d", "q"], machine + reals("coefficients", [1, -1]) + reals("rho", [0.25]) +
       ints("vectors_per_class", [1, 1]) + ints("classlabels_ints", [0, 1])),
    ml("SVMRegressor", ["x"], ["s"], machine + reals("coefficients", [1, -1]) + reals("rho", [0.25]) + whole("n_supports", 2)),
]
outs = [("v", F32, [2, 5]), ("h", F32, [2, 1, 3]), ("l", I64, [2, 1]), ("c", I64, [2]), ("p", F32, [2, 2]), ("r", F32, [2, 1]),
        ("d", I64, [2]), ("q", F32, [2, 2]), ("s", F32, [2, 1])]
write(model(graph(nodes, [X, ("k", I64, [2, 1])], outs, [tensor("at", I64, [2], bytes([2] + [0] * 15))]),
            opsets=(("", 18), (ML, 3))))
