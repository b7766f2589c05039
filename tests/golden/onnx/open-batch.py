# arenac: show
# a batch that the file leaves open is 1, also where its name stands elsewhere; without a name it is the first of several
from onnx_bytes import *

ins = [("x", F32, ["batch_size", 4]), ("state", F32, [2, "batch_size", 4]), ("image", F32, ["", 3])]
nodes = [node("Relu", ["x"], ["y"]), node("Relu", ["state"], ["z"]), node("Relu", ["image"], ["w"])]
write(model(graph(nodes, ins=ins, outs=[("y", F32, ["batch_size", 4]), ("z", F32, [2, "batch_size", 4]), ("w", F32, ["", 3])])))
