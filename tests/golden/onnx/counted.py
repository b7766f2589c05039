# rows that pass a test: as long as they can become, with a count
from onnx_bytes import *

write(model(graph([node("Greater", ["x", "zero"], ["m"]), node("NonZero", ["m"], ["i"]),
                   node("Transpose", ["i"], ["t"], attr_ints("perm", [1, 0])), node("GatherND", ["x", "t"], ["y"])],
                  outs=(("y", F32, ["n"]), ("i", I64, [2, "n"])), weights=[tensor("zero", F32, [], bytes(4))])))
