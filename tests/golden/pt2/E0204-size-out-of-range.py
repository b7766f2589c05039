# a size beyond the range that the program was exported for
# arenac: plan --dim x.1=9
from pt2_bytes import *

p = Program()
p.input("x", F32, [2, "s0"])
p.node("aten.relu.default", {"self": T("x")}, [("y", F32, [2, "s0"])])
p.ranges = {"s0": {"min_val": 2, "max_val": 8}}
p.output("y")
write(p)
