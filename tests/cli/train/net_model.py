"""A network with batch normalisation, net.onnx, the same with dropout, drop.onnx, and their training data: x.npy,
y.npy (24 samples, three classes);
y32.npy are the same classes as the code of a step takes them. usage: net_model.py SOURCE_DIR"""
import sys

import numpy as np

sys.path[:0] = [sys.argv[1] + "/tests/golden", sys.argv[1] + "/models"]
from onnx_bytes import F32, attr_ints, graph, model, node, tensor, write

r = np.random.RandomState(5)


def weight(name, dims, low, high):
    return tensor(name, F32, dims, r.uniform(low, high, dims).astype("f4").tobytes())


def conv(x, w, b, y):
    return node("Conv", [x, w, b], [y], attr_ints("pads", [1, 1, 1, 1]), name=y)


def norm(x, n, y):
    return node("BatchNormalization", [x, n + ".g", n + ".b", n + ".mean", n + ".var"], [y], name=y)


def norm_weights(n, c):
    return [weight(n + ".g", [c], 0.5, 1.5), weight(n + ".b", [c], -0.3, 0.3), weight(n + ".mean", [c], -0.2, 0.2),
            weight(n + ".var", [c], 0.5, 1.5)]


nodes = [conv("x", "k1", "b1", "c1"), norm("c1", "n1", "m1"), node("Relu", ["m1"], ["r1"]),
         conv("r1", "k2", "b2", "c2"), norm("c2", "n2", "m2"), node("Relu", ["m2"], ["r2"]),
         node("GlobalAveragePool", ["r2"], ["p"]), node("Flatten", ["p"], ["f"]),
         node("MatMul", ["f", "w"], ["z"]), node("Add", ["z", "v"], ["logits"])]
drop = nodes[:-2] + [node("Dropout", ["f", "ratio"], ["d"]), node("MatMul", ["d", "w"], ["z"]), nodes[-1]]
weights = [weight("k1", [8, 3, 3, 3], -0.3, 0.3), weight("b1", [8], -0.1, 0.1), *norm_weights("n1", 8),
           weight("k2", [6, 8, 3, 3], -0.3, 0.3), weight("b2", [6], -0.1, 0.1), *norm_weights("n2", 6),
           weight("w", [6, 3], -0.6, 0.6), weight("v", [3], -0.2, 0.2)]
for name, list in ("net", nodes), ("drop", drop):
    ratio = [tensor("ratio", F32, [], np.float32(0.25).tobytes())] if name == "drop" else []
    sys.argv[0] = name
    write(model(graph(list, [("x", F32, [4, 3, 6, 6])], [("logits", F32, [4, 3])], weights + ratio)))
y = r.randint(0, 3, 24)
np.save("x.npy", r.uniform(-1, 1, (24, 3, 6, 6)).astype("f4") + 0.3 * y[:, None, None, None].astype("f4"))
np.save("y.npy", y)
np.save("y32.npy", y.astype("i4"))
