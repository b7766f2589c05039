# an entry that takes fewer bytes than its shape needs
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"size": 44}})
