# an entry in a shard that the checkpoint does not have
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"shard": 5}})
