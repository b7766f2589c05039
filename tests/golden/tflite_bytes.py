"""TFLite files as bytes of FlatBuffers, without packages: for examples whose input no text can say.

    from tflite_bytes import *
    a, b = tensor("a", F32, [2, 3]), tensor("b", F32, [2, 3])
    write([a, b], [op("NEG", [0], [1])], [0], [1])    NAME.tflite, NAME that of the program; model: its bytes

A table is a dict of values by field number: i8(v), i32(v), u32(v), f32(v), text, a list of tables, a table, ints(..),
floats(..), longs(..) or bytes.
"""
import pathlib
import re
import struct
import sys

F32, F16, I32, U8, I64, BOOL, I16, COMPLEX64, I8, I4 = 0, 1, 2, 3, 4, 6, 7, 8, 9, 17
CUSTOM = 32
TABLE = pathlib.Path(__file__).resolve().parents[2] / "import" / "tflite" / "operators.def"
CODES = {n: int(k) for k, n in re.findall(r"^(?:TFL|COMPOSED)\( *(\d+), (\w+),", TABLE.read_text(), re.M)}


def scalar(form):
    return lambda v: struct.pack("<" + form, v)


class Vector(bytes):
    """Elements of a vector; width in bytes."""


def vector(form):
    def make(*v):
        made = Vector(struct.pack("<%d%s" % (len(v), form), *v))
        made.width = struct.calcsize("<" + form)
        return made
    return make


i8, i32, u32, f32, i64 = (scalar(f) for f in "biIfq")
ints, floats, longs, bytes_of = vector("i"), vector("f"), vector("q"), vector("B")


def put(out, v):
    """Appends v with all that it refers to; its position."""
    if isinstance(v, dict):
        inline = {k: x if type(x) is bytes else b"\0" * 4 for k, x in v.items()}
        order = sorted(inline, key=lambda k: -len(inline[k]))
        places, at = {}, 4
        for k in order:
            at += -at % len(inline[k])
            places[k], at = at, at + len(inline[k])
        table = [places.get(k, 0) for k in range(max(v, default=-1) + 1)]
        out += b"\0" * (-(len(out) + 4 + 2 * len(table)) % 8)
        vtable = len(out)
        out += struct.pack("<HH%dH" % len(table), 4 + 2 * len(table), at, *table)
        start = len(out)
        out += struct.pack("<i", start - vtable) + b"\0" * (at - 4)
        for k in order:
            out[start + places[k]:start + places[k] + len(inline[k])] = inline[k]
        for k in v:
            if type(v[k]) is not bytes:
                refer(out, start + places[k], v[k])
        return start
    if isinstance(v, list):
        out += b"\0" * (-len(out) % 4)
        start = len(out)
        out += struct.pack("<I", len(v)) + b"\0" * 4 * len(v)
        for i, x in enumerate(v):
            refer(out, start + 4 + 4 * i, x)
        return start
    width = getattr(v, "width", 1)
    out += b"\0" * (-(len(out) + 4) % max(width, 4))
    start = len(out)
    data = v.encode() + b"\0" if isinstance(v, str) else v
    out += struct.pack("<I", (len(v) if isinstance(v, str) else len(data) // width)) + data
    return start


def refer(out, place, v):
    at = put(out, v)
    out[place:place + 4] = struct.pack("<I", at - place)


def tensor(name, dtype, shape, data=None, scale=None, zero=0, axis=0, **more):
    """more: further fields of the table, as _6={..} for the sparsity."""
    t = {0: ints(*shape), 1: i8(dtype), 3: name, "data": data}
    if scale is not None:
        scale = scale if isinstance(scale, (list, tuple)) else [scale]
        t[4] = {2: floats(*scale), 3: longs(*[zero] * len(scale)), 6: i32(axis)}
    t.update({int(k[1:]): v for k, v in more.items()})
    return t


def op(name, ins, outs, kind=0, options=None, custom=None):
    """kind: the number of the table of options in the file's union."""
    o = {"name": name, 1: ints(*ins), 2: ints(*outs)}
    if options is not None:
        o.update({3: i8(kind), 4: options})
    if custom is not None:
        o[5] = bytes_of(*custom)
    return o


def model(tensors, ops, ins, outs, subgraphs=()):
    names = []
    buffers, graphs = [{}], []
    for tensors, ops, ins, outs in [(tensors, ops, ins, outs), *subgraphs]:
        for t in tensors:
            data = t.pop("data")
            if data is not None:
                t[2] = u32(len(buffers))
                buffers.append({0: bytes_of(*data)})
        for o in ops:
            name = o.pop("name")
            if name not in names:
                names.append(name)
            o[0] = u32(names.index(name))
        graphs.append({0: tensors, 1: ints(*ins), 2: ints(*outs), 3: ops})
    codes = [{0: i8(min(CODES[n], 127)), 3: i32(CODES[n])} if n in CODES else {0: i8(CUSTOM), 1: n, 3: i32(CUSTOM)}
             for n in names]
    out = bytearray(b"\0\0\0\0TFL3")
    refer(out, 0, {0: u32(3), 1: codes, 2: graphs, 4: buffers})
    return bytes(out)


def write(*args):
    pathlib.Path(pathlib.Path(sys.argv[0]).stem + ".tflite").write_bytes(model(*args))
