# an input that the program changes: by an operator in place, and as the signature of a functional program says
from pt2_bytes import *

p = Program()
p.input("x", F32, [4])
p.input("y", F32, [4])
p.node("aten.add_.Tensor", {"self": T("x"), "other": 1.0}, [("add_", F32, [4])])
p.node("aten.add.Tensor", {"self": T("y"), "other": 2.0}, [("add", F32, [4])])
p.node("aten.mul.Tensor", {"self": T("add_"), "other": T("add")}, [("mul", F32, [4])])
p.output("mul")
p.change_input("add", "y")
write(p)
