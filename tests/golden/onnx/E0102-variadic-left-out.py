# of any number of operands none may be left out but at the end
from onnx_bytes import *

x = [(name, F32, [2]) for name in "xz"]
nodes = [node("SequenceConstruct", ["x", "", "z"], ["s"]), node("SequenceAt", ["s", "i"], ["y"]),
         node("Max", ["x", "", "z"], ["m"])]
write(model(graph(nodes, [*x, ("i", I64, [])], [("y", F32, [2]), ("m", F32, [2])])))
