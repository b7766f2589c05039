# torch.cond by a computed condition
from pt2_bytes import *

p = Program()
p.input("x", F32, [4])
p.node("aten.sum.default", {"self": T("x")}, [("total", F32, [])])
p.node("aten.gt.Scalar", {"self": T("total"), "other": 0}, [("positive", BOOL, [])])
branch = lambda target: graph_of([("a", F32, [4])], [(target, {"self": T("a")}, [("r", F32, [4])])], ["r"])
p.node("higher_order.cond", [T("positive"), branch("aten.relu.default"), branch("aten.neg.default"), [T("x")]],
       [("y", F32, [4])])
p.output("y")
write(p)
