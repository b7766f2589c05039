# arenac: --dim left.0=4 --dim right.1=3 --dim rows=5
# inputs whose dimensions have sizes by a part of their names
from onnx_bytes import *

ins = [("net/left/x", F32, ["", 2]), ("net/right/x", F32, ["net/rows", ""])]
write(model(graph([node("Relu", ["net/left/x"], ["y"]), node("Relu", ["net/right/x"], ["z"])], ins=ins,
                  outs=[("y", F32, ["", 2]), ("z", F32, ["", ""])])))
