# the places of what is not 0 in a constant are known: nothing is counted
# arenac: --stop-after dead --dump-after dead
import struct

from onnx_bytes import *

write(model(graph([node("NonZero", ["c"], ["i"]), node("Gather", ["x", "i"], ["g"], attr_int("axis", 1)),
                   node("NonZero", ["none"], ["e"]), node("Concat", ["i", "e"], ["j"], attr_int("axis", 1))],
                  outs=(("g", F32, [2, 1, 2]), ("j", I64, [1, 2])),
                  weights=[tensor("c", I64, [3], struct.pack("<3q", 0, 5, -1)), tensor("none", F32, [2], bytes(8))])))
