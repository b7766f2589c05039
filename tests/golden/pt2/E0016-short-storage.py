# a weight that needs more than its storage has
from pt2_bytes import *

p = linear_net()
p.config["fc.bias"]["tensor_meta"]["storage_offset"]["as_int"] = 7
write(p)
