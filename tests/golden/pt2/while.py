# a loop that data ends, and one of a known number of iterations
from pt2_bytes import *

p = Program()
p.input("x", F32, [3])
p.node("aten.zeros.default", {"size": [], "dtype": {"as_scalar_type": I64}}, [("zero", I64, [])])
ins = [("i", I64, []), ("a", F32, [3])]
less = graph_of(ins, [("aten.sum.default", {"self": T("a")}, [("s", F32, [])]),
                      ("aten.lt.Scalar", {"self": T("s"), "other": 100}, [("t", BOOL, [])])], ["t"])
five = graph_of(ins, [("aten.lt.Scalar", {"self": T("i"), "other": 5}, [("t", BOOL, [])])], ["t"])
body = graph_of(ins, [("aten.add.Tensor", {"self": T("i"), "other": 1}, [("n", I64, [])]),
                      ("aten.mul.Tensor", {"self": T("a"), "other": 1.5}, [("m", F32, [3])]),
                      ("aten.add.Tensor", {"self": T("m"), "other": 1}, [("b", F32, [3])])], ["n", "b"])
p.node("higher_order.while_loop", [less, body, [T("zero"), T("x")], {"as_tensors": []}], [("k", I64, []), ("y", F32, [3])])
p.node("higher_order.while_loop", [five, body, [T("zero"), T("x")], {"as_tensors": []}], [("j", I64, []), ("z", F32, [3])])
p.output("k", "y", "z")
write(p)
