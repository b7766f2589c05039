# a condition that is no bool
from onnx_bytes import *

relu = node("Relu", ["x"], ["y"])
branch = graph([relu], ins=())
choice = node("If", ["x"], ["y"], attr_graph("then_branch", branch) + attr_graph("else_branch", branch), name="choice")
write(model(graph([choice])))
