# an operator of torch.library that a row of --custom computes: an operand, an optional one, attributes
# arenac: show custom.pt2 --emit ag --custom custom.rows
from pt2_bytes import *

p = Program()
p.input("x", F32, [2, 3])
p.node("acme.smooth.default", {"x": T("x"), "gain": {"as_float": 0.5}}, [("smooth", F32, [2, 6])], "head")
p.node("aten.relu.default", {"self": T("smooth")}, [("relu", F32, [2, 6])])
p.output("relu")
write(p)
pathlib.Path("custom.rows").write_text("""operator acme_smooth
  pt2 acme.smooth.default
  in x f32 [..,c]
  in weight? f32 [c]
  attr gain f32 1
  attr power i32 2
  out y x [..,2*c]
  pure
""")
