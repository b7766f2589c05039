# a name that leads out of the archive
from pt2_bytes import *

save(archive(members(linear_net()) + [("net/../../etc/passwd", b"x")]))
