# a Loop that appends to what it carries, as long as data says
from onnx_bytes import *

nodes = [node("Concat", ["v", "x"], ["w"], attr_int("axis", 0)),
         node("ReduceMax", ["w"], ["m"], attr_int("keepdims", 0)), node("Less", ["m", "m"], ["go"])]
body = graph(nodes, ins=(("it", I64, []), ("c", BOOL, []), ("v", F32, ["n", 3])),
             outs=(("go", BOOL, []), ("w", F32, ["m", 3])))
loop = node("Loop", ["", "yes", "x"], ["y"], attr_graph("body", body), name="decode")
write(model(graph([loop], weights=[tensor("yes", BOOL, [], b"\1")])))
