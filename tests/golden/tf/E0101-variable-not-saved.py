# the graph restores what the checkpoint does not have
from saved_model import *

saved_model("m", graph=saved_graph(restored={**VARIABLES, "dense/bias": "model/nowhere"}))
