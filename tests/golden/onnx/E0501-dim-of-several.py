# arenac: --dim x.1=4
# two inputs have a dimension of that name
from onnx_bytes import *

ins = [("net/left/x", F32, [2, ""]), ("net/right/x", F32, [2, ""])]
write(model(graph([node("Relu", ["net/left/x"], ["y"]), node("Relu", ["net/right/x"], ["z"])], ins=ins,
                  outs=[("y", F32, [2, ""]), ("z", F32, [2, ""])])))
