# a pipeline of ai.onnx.ml: scaled features, a tree with `>` and equality, classes with names, a map for each row
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

ML = "ai.onnx.ml"
ints, num_, text = attr_ints, attr_int, lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
reals = lambda name, v: sub(5, sub(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6))
a = (ints("nodes_treeids", [0] * 5) + ints("nodes_nodeids", range(5)) + ints("nodes_featureids", [0, 0, 1, 0, 0]) +
     text("nodes_modes", ["BRANCH_GT", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"]) + reals("nodes_values", [1, 0, 2, 0, 0]) +
     ints("nodes_truenodeids", [1, 0, 3, 0, 0]) + ints("nodes_falsenodeids", [2, 0, 4, 0, 0]) +
     ints("class_treeids", [0] * 3) + ints("class_nodeids", [1, 3, 4]) + ints("class_ids", [0, 1, 2]) +
     reals("class_weights", [1, 2, 3]) + text("classlabels_strings", ["ant", "bee", "cat"]))
nodes = [node("Scaler", ["x"], ["s"], reals("offset", [1]) + reals("scale", [2]), domain=ML),
         node("TreeEnsembleClassifier", ["s"], ["label", "p"], a, domain=ML),
         node("ZipMap", ["p"], ["z"], text("classlabels_strings", ["ant", "bee", "cat"]), domain=ML)]
write(model(graph(nodes, outs=[("label", STRING, [2]), ("z", F32, [2, 3])]), opsets=(("", 18), (ML, 3))))
