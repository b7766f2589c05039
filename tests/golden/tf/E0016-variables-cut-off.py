# a shard that was cut off
from saved_model import *

saved_model("m")
data = pathlib.Path("m/variables/variables.data-00000-of-00001")
data.write_bytes(data.read_bytes()[:100])
