# a symbolic size, and a tensor as long as it plus one
# arenac: show --dim s0=3
from pt2_bytes import *

p = Program()
n = "Symbol('s0', positive=True, integer=True)"
p.input("x", F32, [2, n])
p.input("z", F32, [2, "Add(%s, Integer(1))" % n])
p.node("aten.sym_size.int", {"self": T("x"), "dim": 1}, ["sym_size_int"])
p.node("_operator.add", {"a": {"as_sym_int": {"as_name": "sym_size_int"}}, "b": 1}, ["add"])
p.node("aten.narrow.default", {"self": T("z"), "dim": 1, "start": 1,
                               "length": {"as_sym_int": {"as_name": "sym_size_int"}}}, [("part", F32, [2, n])])
p.node("aten.add.Tensor", {"self": T("x"), "other": T("part"), "alpha": 2}, [("y", F32, [2, n])])
p.ranges = {"s0": {"min_val": 2, "max_val": 8}}
p.output("y")
write(p)
