# the directory lets a member reach into the next one
import struct
from pt2_bytes import *

data = bytearray(archive(members(linear_net())))
at = data.index(b"PK\1\2")
n = struct.unpack_from("<I", data, at + 20)[0]
struct.pack_into("<II", data, at + 20, n + 64, n + 64)
save(bytes(data))
