# the nodes of a tree lead back to its root
import struct

from onnx_bytes import *

ML = "ai.onnx.ml"
text = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
reals = lambda name, v: sub(5, sub(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6))
a = (attr_ints("nodes_treeids", [0, 0]) + attr_ints("nodes_nodeids", [0, 1]) + attr_ints("nodes_featureids", [0, 0]) +
     text("nodes_modes", ["BRANCH_LEQ", "BRANCH_LEQ"]) + reals("nodes_values", [1, 2]) +
     attr_ints("nodes_truenodeids", [1, 0]) + attr_ints("nodes_falsenodeids", [1, 0]) +
     attr_ints("target_treeids", [0]) + attr_ints("target_nodeids", [0]) + attr_ints("target_ids", [0]) +
     reals("target_weights", [1]))
write(model(graph([node("TreeEnsembleRegressor", ["x"], ["y"], a, domain=ML)], outs=[("y", F32, [2, 1])]),
            opsets=(("", 18), (ML, 3))))
