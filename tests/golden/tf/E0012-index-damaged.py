# a bit of the index is wrong
from saved_model import *

saved_model("m")
index = pathlib.Path("m/variables/variables.index")
b = bytearray(index.read_bytes())
b[20] ^= 4
index.write_bytes(b)
