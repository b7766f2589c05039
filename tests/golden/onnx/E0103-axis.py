# an axis that the value does not have
from onnx_bytes import *

write(model(graph([node("Softmax", ["x"], ["y"], attr_int("axis", 5), name="soft")])))
