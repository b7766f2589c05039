# com.microsoft: inverses of matrices, and the values of a list in the order in which they come
# arenac: check --dump-after infer
from onnx_bytes import *

MS = "com.microsoft"
nodes = [node("Inverse", ["x"], ["y"], domain=MS), node("Unique", ["v"], ["u", "at", "n"], domain=MS)]
write(model(graph(nodes, [("x", F32, [2, 3, 3]), ("v", F32, [5])],
                  [("y", F32, [2, 3, 3]), ("u", F32, ["k"]), ("at", I64, [5]), ("n", I64, ["k"])]),
            opsets=(("", 18), (MS, 1))))
