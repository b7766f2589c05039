# a buffer that a call changes, as exported: through a view
from pt2_bytes import *

p = Program()
ring = p.weight("ring", F32, [4], floats(0, 0, 0, 0), "buffer")
p.input("x", F32, [1])
p.node("aten.slice.Tensor", {"self": ring, "dim": 0, "start": 1, "end": 9223372036854775807}, [("old", F32, [3])])
p.node("aten.cat.default", {"tensors": [T("old"), T("x")]}, [("window", F32, [4])])
p.node("aten.copy_.default", {"self": ring, "src": T("window")}, [("copy_", F32, [4])])
p.node("aten.select.int", {"self": ring, "dim": 0, "index": 0}, [("first", F32, [])])
p.node("aten.add_.Tensor", {"self": T("first"), "other": 0.5}, [("add_", F32, [])])
p.node("aten.sum.default", {"self": ring}, [("sum_1", F32, [])])
p.output("sum_1")
write(p)
