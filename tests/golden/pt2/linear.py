# two weights of one storage, modules as names
from pt2_bytes import *

write(linear_net())
