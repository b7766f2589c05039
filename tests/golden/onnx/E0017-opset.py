# a version of the operators that is not out yet
from onnx_bytes import *

relu = node("Relu", ["x"], ["y"])
write(model(graph([relu]), opsets=(("", 99),)))
