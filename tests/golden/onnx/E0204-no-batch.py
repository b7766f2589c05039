# names of lengths, a name that an input has twice and a vector without a name are not batches: the help lists each
# name once, also one that is part of another
from onnx_bytes import *

shapes = {"e": ["enc/seq", 4], "x": ["seq", 4], "again": ["seq"], "edges": ["n", "n"], "signal": [""]}
write(model(graph([node("Relu", [name], [name + "_out"]) for name in shapes],
                  ins=[(name, F32, shape) for name, shape in shapes.items()],
                  outs=[(name + "_out", F32, shape) for name, shape in shapes.items()])))
