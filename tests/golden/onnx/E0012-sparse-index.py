# a sparse constant has an index outside of it, and another one indices of other dimensions than its own
from onnx_bytes import *

a = sparse("a", [2, 3], [1, 2], [1, 6])
b = sparse("b", [2, 3], [1], [1, 1, 1], 3)
write(model(graph([node("Add", ["x", "a"], ["p"]), node("Add", ["p", "b"], ["y"])], thin=[a, b])))
