# a Loop that appends to what it carries: room for as many as the iterations can add, which the condition bounds
# arenac: check --dump-after infer
import struct

from onnx_bytes import *


def i64(name, dims, *v):
    return tensor(name, I64, dims, struct.pack("<%dq" % len(v), *v))


nodes = [node("Gather", ["ids", "last"], ["k"], attr_int("axis", 0)), node("Add", ["k", "ones"], ["word"]),
         node("Concat", ["ids", "word"], ["longer"], attr_int("axis", 0)), node("Add", ["i", "one"], ["next"]),
         node("Less", ["next", "ten"], ["few"]), node("Equal", ["word", "end"], ["e"]),
         node("Squeeze", ["e", "first"], ["over"]), node("Not", ["over"], ["on"]), node("And", ["few", "on"], ["go"])]
body = graph(nodes, ins=(("it", I64, []), ("c", BOOL, []), ("ids", I64, ["n"]), ("i", I64, [])),
             outs=(("go", BOOL, []), ("longer", I64, ["m"]), ("next", I64, [])),
             weights=[i64("last", [1], -1), i64("ones", [1], 1), i64("one", [], 1), i64("ten", [], 10),
                      i64("end", [1], 7), i64("first", [1], 0)])
loop = node("Loop", ["", "yes", "start", "zero"], ["ids", "i"], attr_graph("body", body))
write(model(graph([loop], ins=(("start", I64, [2]),), outs=(("ids", I64, ["n"]), ("i", I64, [])),
                  weights=[i64("zero", [], 0), tensor("yes", BOOL, [], b"\1")])))
