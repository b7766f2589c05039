"""ONNX files as bytes of protobuf, without the onnx package: for examples whose input no text can say.

    from onnx_bytes import *
    write(model(graph([node("Neg", ["x"], ["y"])])))        NAME.onnx, NAME that of the program; x and y are f32 [2,3]
"""
import pathlib
import struct
import sys

from wire import data as sub, number as num, varint

F32, I32, I64, STRING, BOOL = 1, 6, 7, 8, 9
X, Y = ("x", F32, [2, 3]), ("y", F32, [2, 3])


def shape(dims):
    return b"".join(sub(1, sub(2, d) if isinstance(d, str) else num(1, d)) for d in dims)


def value(name, dtype, dims):
    return sub(1, name) + sub(2, sub(1, num(1, dtype) + sub(2, shape(dims))))


def attr_int(name, v):
    return sub(5, sub(1, name) + num(3, v) + num(20, 2))


def attr_float(name, v):
    return sub(5, sub(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))


def attr_word(name, v):
    return sub(5, sub(1, name) + sub(4, v) + num(20, 3))


def attr_ints(name, v):
    return sub(5, sub(1, name) + b"".join(num(8, x) for x in v) + num(20, 7))


def attr_graph(name, g):
    return sub(5, sub(1, name) + sub(6, g) + num(20, 5))


def node(op, ins, outs, attrs=b"", name="", domain=""):
    b = b"".join(sub(1, i) for i in ins) + b"".join(sub(2, o) for o in outs)
    return b + sub(3, name or op + "_node") + sub(4, op) + attrs + (sub(7, domain) if domain else b"")


def tensor(name, dtype, dims, raw=None, extra=b""):
    b = b"".join(num(1, d) for d in dims) + num(2, dtype) + sub(8, name)
    return b + (sub(9, raw) if raw is not None else b"") + extra


def sparse(name, dims, values, indices, columns=0):
    """f32 values at i64 indices: one number each, or a row of `columns`."""
    n = len(values)
    v = tensor(name, F32, [n], struct.pack("<%df" % n, *values))
    i = tensor("", I64, [n, columns] if columns else [n], struct.pack("<%dq" % len(indices), *indices))
    return sub(1, v) + sub(2, i) + b"".join(num(3, d) for d in dims)


def attr_sparse(name, s):
    return sub(5, sub(1, name) + sub(22, s) + num(20, 11))


def external(name, dims, **entries):
    rows = b"".join(sub(13, sub(1, k) + sub(2, str(v))) for k, v in entries.items())
    return tensor(name, F32, dims, None, rows + num(14, 1))


def graph(nodes, ins=(X,), outs=(Y,), weights=(), known=(), thin=()):
    b = b"".join(sub(1, n) for n in nodes) + sub(2, "g") + b"".join(sub(5, w) for w in weights)
    b += b"".join(sub(15, s) for s in thin)
    values = ((11, ins), (12, outs), (13, known))
    return b + b"".join(sub(field, value(*v)) for field, list in values for v in list)


def model(g, functions=(), opsets=(("", 18),)):
    sets = b"".join(sub(8, (sub(1, d) if d else b"") + num(2, v)) for d, v in opsets)
    return num(1, 9) + sub(7, g) + sets + b"".join(sub(25, f) for f in functions)


def function(name, nodes):
    b = sub(1, name) + sub(4, "x") + sub(5, "y") + b"".join(sub(7, n) for n in nodes)
    return b + sub(9, num(2, 18)) + sub(10, "own")


def call(name, inner):
    """A function of the domain `own` that calls another of it."""
    return function(name, [node(inner, ["x"], ["y"], domain="own")])


OWN = dict(opsets=(("", 18), ("own", 1)))


def nested(depth, wrap):
    """wrap(size of what is inside) -> (before, after), that many times, without copying what is inside each time."""
    head, tail, size = [], [], 0
    for _ in range(depth):
        before, after = wrap(size)
        head.append(before)
        tail.append(after)
        size += len(before) + len(after)
    return b"".join(reversed(head)) + b"".join(tail)


def write(data):
    with open(pathlib.Path(sys.argv[0]).stem + ".onnx", "wb") as f:
        f.write(data)
