# weights as PyTorch 2.8 writes them
from pt2_bytes import *

m = [x for x in members(linear_net()) if "weights" not in x[0]]
save(archive(m + [("net/data/weights/model.pt", b"PK")]))
