# a mean and the place of the largest over elements of which some have no meaning; what is as large as they are is counted
from onnx_bytes import *

write(model(graph([node("NonZero", ["x"], ["i"]), node("ReduceMean", ["i"], ["s"]), node("ArgMax", ["i"], ["c"], attr_int("axis", 1)),
                   node("ConstantOfShape", ["shape"], ["z"]), node("Shape", ["i"], ["shape"])],
                  outs=(("s", I64, [1, 1]), ("c", I64, [2, 1]), ("z", F32, [2, "n"])))))
