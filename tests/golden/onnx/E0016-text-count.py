# a constant with fewer texts than elements
# arenac: check
from onnx_bytes import *

write(model(graph([node("Identity", ["t"], ["y"])], [], [("y", STRING, [3])], [tensor("t", STRING, [3], None, sub(6, "a"))])))
