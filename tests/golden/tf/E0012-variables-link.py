# a shard that leads out of the folder
import os
from saved_model import *

saved_model("m")
os.remove("m/variables/variables.data-00000-of-00001")
os.symlink("/dev/null", "m/variables/variables.data-00000-of-00001")
