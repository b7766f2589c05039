# a node that asks whether a value is in an empty set: never
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

ML, U8 = "ai.onnx.ml", 2
held = lambda name, dtype, raw, n: sub(5, sub(1, name) + sub(5, tensor("", dtype, [n], raw)) + num(20, 4))
a = (attr_ints("nodes_featureids", [0]) + attr_ints("nodes_truenodeids", [0]) + attr_ints("nodes_falsenodeids", [1]) +
     attr_ints("nodes_trueleafs", [1]) + attr_ints("nodes_falseleafs", [1]) + attr_ints("tree_roots", [0]) +
     held("nodes_modes", U8, bytes([6]), 1) + held("nodes_splits", F32, struct.pack("<f", 0), 1) +
     attr_ints("leaf_targetids", [0, 0]) + held("leaf_weights", F32, struct.pack("<2f", 1, 2), 2) + attr_int("n_targets", 1))
write(model(graph([node("TreeEnsemble", ["x"], ["y"], a, domain=ML)], outs=[("y", F32, [2, 1])]),
            opsets=(("", 18), (ML, 5))))
