# texts that no C string can be
# arenac: check
from onnx_bytes import *

texts = lambda name, v: sub(5, sub(1, name) + b"".join(sub(9, s) for s in v) + num(20, 8))
nodes = [node("Constant", [], ["a"], texts("value_strings", [b"\xc0\x80"])),
         node("Constant", [], ["b"], texts("value_strings", [b"a\0b"])), node("Constant", [], ["c"], texts("value_strings", [b"\xe9"]))]
write(model(graph(nodes, [], [("a", STRING, [1]), ("b", STRING, [1]), ("c", STRING, [1])])))
