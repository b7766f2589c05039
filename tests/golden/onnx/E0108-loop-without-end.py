# a Loop whose condition is true in every iteration, and nothing else ends it
from onnx_bytes import *

nodes = [node("Identity", ["c"], ["go"]), node("Tanh", ["v"], ["w"])]
body = graph(nodes, ins=(("it", I64, []), ("c", BOOL, []), ("v", F32, [3])), outs=(("go", BOOL, []), ("w", F32, [3])))
loop = node("Loop", ["", "yes", "x"], ["y"], attr_graph("body", body), name="endless")
write(model(graph([loop], ins=(("x", F32, [3]),), outs=(("y", F32, [3]),), weights=[tensor("yes", BOOL, [], b"\1")])))
