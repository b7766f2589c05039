# two trees that are added up, and an ensemble of opset 5: a node whose values are in a set, and leaves of their own
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

ML = "ai.onnx.ml"
text = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
reals = lambda name, v: sub(5, sub(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6))
of = lambda name, t: sub(5, sub(1, name) + sub(5, t) + num(20, 4))
floats_of = lambda name, v: of(name, tensor(name, F32, [len(v)], struct.pack("<%df" % len(v), *v)))
regressor = (
    attr_ints("nodes_treeids", [0, 0, 0, 1, 1, 1]) + attr_ints("nodes_nodeids", [0, 1, 2] * 2) +
    attr_ints("nodes_featureids", [0, 0, 0, 2, 0, 0]) + text("nodes_modes", ["BRANCH_LEQ", "LEAF", "LEAF"] * 2) +
    reals("nodes_values", [1, 0, 0, 2, 0, 0]) + attr_ints("nodes_truenodeids", [1, 0, 0] * 2) +
    attr_ints("nodes_falsenodeids", [2, 0, 0] * 2) + attr_ints("target_treeids", [0, 0, 1, 1]) +
    attr_ints("target_nodeids", [1, 2] * 2) + attr_ints("target_ids", [0, 0, 0, 0]) +
    reals("target_weights", [1, 2, 3, 4]) + attr_int("n_targets", 1))
ensemble = (
    attr_ints("nodes_featureids", [0, 1]) + attr_ints("nodes_truenodeids", [1, 0]) + attr_ints("nodes_falsenodeids", [2, 1]) +
    attr_ints("nodes_trueleafs", [0, 1]) + attr_ints("nodes_falseleafs", [1, 1]) + attr_ints("tree_roots", [0]) +
    attr_ints("leaf_targetids", [0, 1, 0]) + of("nodes_modes", tensor("m", 2, [2], bytes([0, 6]))) +
    floats_of("nodes_splits", [1, 0]) + floats_of("membership_values", [1, 3, float("nan")]) +
    floats_of("leaf_weights", [1, 2, 3]) + attr_int("n_targets", 2))
nodes = [node("TreeEnsembleRegressor", ["x"], ["r"], regressor, domain=ML), node("TreeEnsemble", ["x"], ["e"], ensemble, domain=ML)]
write(model(graph(nodes, outs=[("r", F32, [2, 1]), ("e", F32, [2, 2])]), opsets=(("", 21), (ML, 5))))
