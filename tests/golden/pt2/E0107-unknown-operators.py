# operators without a lowering, also in a branch: all of them are listed
from pt2_bytes import *

p = Program()
p.input("x", F32, [4])
p.node("aten.lgamma.default", {"self": T("x")}, [("a", F32, [4])])
branch = lambda target: graph_of([("a", F32, [4])], [(target, {"self": T("a")}, [("r", F32, [4])])], ["r"])
p.node("higher_order.cond", [{"as_bool": True}, branch("mine.special.default"), branch("aten.neg.default"), [T("a")]],
       [("y", F32, [4])])
p.output("y")
write(p)
