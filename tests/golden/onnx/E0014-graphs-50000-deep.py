# 50,000 graphs, each in a branch of the one around it
from onnx_bytes import *

OTHER = attr_graph("else_branch", graph([node("Neg", ["x"], ["y"])], ins=()))


def level(inner):  # the node of an If whose branch holds what is inside
    end = sub(2, "g") + sub(12, value("y", F32, [2, 3]))
    start = varint(1 << 3 | 2) + varint(inner) if inner else b""
    size = len(start) + inner + len(end)
    a_start, a_end = sub(1, "then_branch") + varint(6 << 3 | 2) + varint(size), num(20, 5)
    a_size = len(a_start) + size + len(a_end)
    head = sub(1, "c") + sub(2, "y") + sub(4, "If") + OTHER
    return head + varint(5 << 3 | 2) + varint(a_size) + a_start + start, end + a_end


write(model(graph([nested(50000, level)], ins=(X, ("c", BOOL, [])))))
