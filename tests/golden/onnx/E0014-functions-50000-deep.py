# 50,000 functions, each calls the next
from onnx_bytes import *

functions = [call("F%d" % i, "F%d" % (i + 1)) for i in range(50000)]
functions += [function("F50000", [node("Relu", ["x"], ["y"])])]
write(model(graph([node("F0", ["x"], ["y"], domain="own")]), functions, **OWN))
