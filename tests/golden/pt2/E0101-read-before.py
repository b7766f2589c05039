# a node reads what nothing makes
from pt2_bytes import *

p = linear_net()
p.nodes[1]["inputs"][0]["arg"] = T("later")
write(p)
