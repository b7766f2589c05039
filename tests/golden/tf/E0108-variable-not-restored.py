# a variable that nothing gives a value
from saved_model import *

saved_model("m", graph=saved_graph(restored={n: k for n, k in VARIABLES.items() if n != "dense/bias"}))
