# a byte of a weight was changed
from pt2_bytes import *

data = archive(members(linear_net()))
save(data.replace(floats(0.5, 0.25), floats(0.5, 0.5)))
