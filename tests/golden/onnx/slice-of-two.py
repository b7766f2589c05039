# x[i:i+2], which begins where data says: no longer than 2, and counted, as it may begin near the end
# arenac: check --dump-after infer
from onnx_bytes import *

write(model(graph([node("Add", ["i", "two"], ["end"]), node("Slice", ["x", "i", "end"], ["y"])],
                  [("x", F32, [9]), ("i", I64, [1])], [("y", F32, ["n"])],
                  weights=[tensor("two", I64, [1], (2).to_bytes(8, "little"))])))
