# a sum of one
from onnx_bytes import *

write(model(graph([node("Add", ["x"], ["y"], name="alone")])))
