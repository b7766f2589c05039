# a type of lists of lists, 50,000 deep
from onnx_bytes import *

def level(inner):
    return varint(4 << 3 | 2) + varint(inner + 1 + len(varint(inner))) + varint(1 << 3 | 2) + varint(inner), b""


x = sub(1, "x") + sub(2, nested(50000, level))
write(model(sub(1, node("Relu", ["x"], ["y"])) + sub(2, "g") + sub(11, x) + sub(12, value(*Y))))
