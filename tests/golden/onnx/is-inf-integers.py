# integers are never infinite, the largest one included
# arenac: --dump-after dead
from onnx_bytes import *

nodes = [node("IsInf", ["x"], ["a"]), node("IsInf", ["x"], ["b"], attr_int("detect_negative", 0)),
         node("Or", ["a", "b"], ["c"]), node("Or", ["c", "l"], ["y"])]
write(model(graph(nodes, ins=[("x", I32, [3]), ("l", BOOL, [3])], outs=[("y", BOOL, [3])]), opsets=[("", 20)]))
