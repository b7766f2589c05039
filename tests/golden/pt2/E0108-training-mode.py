# an argument that asks for training
from pt2_bytes import *

p = Program()
p.input("x", F32, [4])
p.node("aten.dropout.default", {"input": T("x"), "p": 0.5, "train": True}, [("y", F32, [4])])
p.output("y")
write(p)
