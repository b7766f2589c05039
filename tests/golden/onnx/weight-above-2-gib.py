# a weight of more than 2 GiB
# arenac: check
from onnx_bytes import *

size = (1 << 31) + (1 << 20)
before = sub(1, node("Relu", ["x"], ["y"])) + sub(2, "g") + sub(11, value(*X)) + sub(12, value(*Y))
w = num(1, size // 4) + num(2, F32) + sub(8, "w") + varint(9 << 3 | 2) + varint(size)
g = before + varint(5 << 3 | 2) + varint(len(w) + size) + w
m = num(1, 9) + sub(8, num(2, 18)) + varint(7 << 3 | 2) + varint(len(g) + size) + g
with open("weight-above-2-gib.onnx", "wb") as f:
    f.write(m)
    f.truncate(len(m) + size)  # a hole: costs no room on the disk
