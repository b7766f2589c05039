# a parameter that no member holds
from pt2_bytes import *

p = linear_net()
del p.config["fc.bias"]
write(p)
