# an output that nothing makes
from onnx_bytes import *

write(model(graph([node("Relu", ["x"], ["y"])], outs=[("z", F32, [2, 3])])))
