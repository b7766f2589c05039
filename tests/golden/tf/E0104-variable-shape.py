# the checkpoint has another shape than the graph
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"dims": (6, 2)}})
