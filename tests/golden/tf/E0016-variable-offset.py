# an entry that is outside of its shard
from saved_model import *

saved_model("m", change={VARIABLES["dense/kernel"]: {"offset": (1 << 63) - 8}})
