"""custom_files.py - ONNX and TFLite files with the operators of custom.def, for custom.sh. Writes into the current
folder; golden's writers are in PYTHONPATH."""
import pathlib
import struct

import onnx_bytes as ox
import tflite_bytes as tfl
from wire import data as sub, number as num, varint

MXNET = struct.Struct("<QQQIiIqiii")  # of a list with one dense vector of floats

DOMAIN = dict(opsets=(("", 18), ("com.acme", 1)))


def floats(name, v):
    return sub(5, sub(1, name) + b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6))


def onnx(path, nodes, ins, outs, weights=()):
    pathlib.Path(path).write_bytes(ox.model(ox.graph(nodes, ins, outs, weights), **DOMAIN))


X, W = ("x", ox.F32, [2, 3]), ox.tensor("w", ox.F32, [3], struct.pack("<3f", 1, 2, 4))
REPORT, COUNT = ("report", ox.F32, [20]), ("count", ox.I32, [])
ATTRS = (ox.attr_int("whole", -7) + ox.attr_float("real", 0.375) + ox.attr_ints("ints", [1, 2, 3]) +
         floats("floats", [0.5, 0.25]) + ox.attr_word("mode", 'quick "brown" fox'))

# every type of attribute, an operand that is left out, a constant, a variadic one, two results
onnx("probe.onnx", [ox.node("Probe", ["x", "", "w", "x"], ["report", "count"], ATTRS, domain="com.acme")],
     [X], [REPORT, COUNT], [W])
# the defaults; the second result is unused
onnx("plain.onnx", [ox.node("Probe", ["x"], ["report"], ox.attr_int("whole", 5), domain="com.acme")], [X], [REPORT])
onnx("needs.onnx", [ox.node("Probe", ["x"], ["report"], domain="com.acme")], [X], [REPORT])
onnx("unknown.onnx", [ox.node("Probe", ["x"], ["report"], ox.attr_int("whole", 5) + ox.attr_int("odd", 1),
                              domain="com.acme")], [X], [REPORT])
onnx("type.onnx", [ox.node("Probe", ["x"], ["report"], ox.attr_float("whole", 5), domain="com.acme")], [X], [REPORT])
onnx("large.onnx", [ox.node("Probe", ["x"], ["report"], ox.attr_int("whole", 1 << 40), domain="com.acme")], [X],
     [REPORT])
onnx("shape.onnx", [ox.node("Wide", ["x", "w"], ["y"], domain="com.acme")], [X], [("y", ox.F32, [2, 6])],
     [ox.tensor("w", ox.F32, [2], struct.pack("<2f", 1, 2))])
# an operator of ONNX itself, and a batch that is open
onnx("relu.onnx", [ox.node("Relu", ["x"], ["y"])], [("x", ox.F32, ["batch", 3])], [("y", ox.F32, ["batch", 3])])

# int8 with a scale; options as bytes
T = [tfl.tensor("x", tfl.I8, [1, 4], scale=0.5, zero=3), tfl.tensor("report", tfl.F32, [20]),
     tfl.tensor("count", tfl.I32, [])]
for name, custom in ("bytes", bytes([1, 2, 253])), ("none", None):
    pathlib.Path(name + ".tflite").write_bytes(
        tfl.model([dict(t) for t in T], [tfl.op("AcmeProbe", [0], [1, 2], custom=custom)], [0], [1, 2]))
# a FlexBuffer map {"alpha": 0.25, "times": 3}: keys, their places, the places' place, width and number, values, types
flex = (b"alpha\0times\0" + bytes([2, 13, 8, 0]) + struct.pack("<IIIfI", 3, 1, 2, 0.25, 3) +
        bytes([3 << 2 | 2, 1 << 2 | 2, 10, 9 << 2 | 2, 1]))
S = [tfl.tensor("x", tfl.F32, [2, 2]), tfl.tensor("y", tfl.F32, [2, 6])]
pathlib.Path("map.tflite").write_bytes(tfl.model(S, [tfl.op("AcmeWide", [0], [1], custom=flex)], [0], [1]))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + "\n"
pathlib.Path("x.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() +
                                  struct.pack("<6f", *[1] * 6))

# arrays of MXNet and blobs of Caffe: a vector of three floats, [1, 2, 4]
vector = struct.pack("<3f", 1, 2, 4)
pathlib.Path("net.params").write_bytes(
    MXNET.pack(0x112, 0, 1, 0xF993FAC9, 0, 1, 3, 1, 0, 0) + vector + struct.pack("<QQ", 1, 5) + b"arg:w")
for name, count in ("one", 1), ("two", 2):
    blob = sub(7, sub(7, sub(1, varint(3))) + sub(5, vector))
    pathlib.Path(name + ".caffemodel").write_bytes(sub(100, sub(1, "r") + count * blob))
pathlib.Path("net.caffemodel").write_bytes(  # also the net: x -> Probe
    sub(3, "x") + sub(8, sub(1, varint(2) + varint(3))) +
    sub(100, sub(1, "r") + sub(2, "Probe") + sub(3, "x") + sub(4, "a") + sub(4, "b")))
