# sparse constants, by places in a row or by rows of indices, as an initializer and as a node
# arenac: check --dump-after infer
from onnx_bytes import *

a = sparse("a", [2, 3], [1, 2], [1, 5])
b = sparse("b", [2, 3], [3, 4], [0, 0, 1, 1], 2)
c = node("Constant", [], ["c"], attr_sparse("sparse_value", sparse("", [2, 3], [5], [3])))
nodes = [c, node("Add", ["x", "a"], ["p"]), node("Add", ["p", "b"], ["q"]), node("Add", ["q", "c"], ["y"])]
write(model(graph(nodes, thin=[a, b])))
