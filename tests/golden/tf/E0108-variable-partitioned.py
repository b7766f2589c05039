# a variable that is saved in slices
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"more": wire.data(7, wire.data(1, b""))}})
