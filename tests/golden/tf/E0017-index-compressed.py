# an index whose blocks are compressed
from saved_model import *

saved_model("m", kind=1)
