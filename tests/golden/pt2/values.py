# arguments in the types that exporters choose: numbers first, corrections as floats, unused results
from pt2_bytes import *

p = Program()
p.input("x", F32, [1, 2, 5, 3])
p.node("aten.sub.Tensor", {"self": 3, "other": T("x")}, [("sub", F32, [1, 2, 5, 3])])
p.node("aten.dropout_.default", {"self": T("sub"), "p": 0.5, "train": False}, [("dropout_", F32, [1, 2, 5, 3])])
p.node("aten.var.correction", {"self": T("dropout_"), "dim": [3], "correction": 1.0}, [("var", F32, [1, 2, 5])])
p.node("aten.adaptive_max_pool2d.default", {"self": T("sub"), "output_size": [3, 2]},
       [("pool", F32, [1, 2, 3, 2]), ("adaptive_max_pool2d_unused_1", I64, [1, 2, 3, 2])])
p.output("var", "pool")
write(p)
