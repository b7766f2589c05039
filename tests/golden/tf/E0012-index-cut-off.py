# an index that was cut off
from saved_model import *

saved_model("m")
index = pathlib.Path("m/variables/variables.index")
index.write_bytes(index.read_bytes()[:100])
