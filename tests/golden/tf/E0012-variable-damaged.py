# a bit of a variable is wrong
from saved_model import *

saved_model("m", 2)
data = pathlib.Path("m/variables/variables.data-00001-of-00002")
b = bytearray(data.read_bytes())
b[-1] ^= 1
data.write_bytes(b)
