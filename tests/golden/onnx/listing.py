# show lists the file's operators, before anything is done to them
# arenac: show
from onnx_bytes import *

nodes = [node("Relu", ["x"], ["a"], name="first"), node("Softmax", ["a"], ["y"], attr_int("axis", 1), name="last")]
write(model(graph(nodes)))
