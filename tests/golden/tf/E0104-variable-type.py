# the checkpoint has another type than the graph
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"type": INT32}})
