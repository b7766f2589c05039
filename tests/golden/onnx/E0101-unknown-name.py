# a node reads what nothing makes
from onnx_bytes import *

write(model(graph([node("Add", ["x", "nothing"], ["y"])])))
