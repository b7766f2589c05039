# the file declares another shape for a result
from pt2_bytes import *

p = linear_net()
p.values["linear"]["sizes"][1]["as_int"] = 5
write(p)
