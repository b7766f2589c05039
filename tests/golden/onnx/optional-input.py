# an input of optional type: a value, whose batch is open, or none
# arenac: --dump-after dead
# arenac none: --dump-after dead --const o=none
from onnx_bytes import *

T = ("t", F32, [2, 3])
add = graph([node("OptionalGetElement", ["o"], ["g"]), node("Add", ["x", "g"], ["t"])], (), [T])
nothing = graph([node("Neg", ["x"], ["t"])], (), [T])
tensor_type = sub(1, num(1, F32) + sub(2, shape(["n", 3])))
g = graph([node("OptionalHasElement", ["o"], ["h"]),
           node("If", ["h"], ["y"], attr_graph("then_branch", add) + attr_graph("else_branch", nothing))])
g += sub(11, sub(1, "o") + sub(2, sub(9, sub(1, tensor_type))))
write(model(g))
