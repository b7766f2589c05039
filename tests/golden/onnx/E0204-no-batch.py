# names of lengths, a name that stands twice and a vector without a name are not batches: the help lists all
from onnx_bytes import *

ins = [("x", F32, ["seq", 4]), ("edges", F32, ["n", "n"]), ("signal", F32, [""])]
nodes = [node("Relu", ["x"], ["y"]), node("Relu", ["edges"], ["z"]), node("Relu", ["signal"], ["w"])]
write(model(graph(nodes, ins=ins, outs=[("y", F32, ["seq", 4]), ("z", F32, ["n", "n"]), ("w", F32, [""])])))
