# lists of tensors: known ones, and one that a loop makes until a condition ends it
# arenac: check --dump-after infer
import struct

from onnx_bytes import *


def i64(name, dims, *v):
    return tensor(name, I64, dims, struct.pack("<%dq" % len(v), *v))


body = graph([node("SequenceAt", ["rows", "it"], ["r"]), node("SequenceInsert", ["s", "r"], ["s2"]),
              node("ReduceMax", ["r"], ["m"], attr_int("keepdims", 0)), node("Less", ["m", "limit"], ["go"])],
             ins=(("it", I64, []), ("c", BOOL, []), ("s", F32, ["n", 3])),
             outs=(("go", BOOL, []), ("s2", F32, ["n", 3])), weights=[tensor("limit", F32, [], struct.pack("<f", 1))])
nodes = [node("SplitToSequence", ["x"], ["rows"], attr_int("axis", 0) + attr_int("keepdims", 0)),
         node("SequenceLength", ["rows"], ["n"]), node("SequenceEmpty", [], ["none"]),
         node("Loop", ["n", "yes", "none"], ["some"], attr_graph("body", body), name="until_large"),
         node("ConcatFromSequence", ["some"], ["y"], attr_int("axis", 0) + attr_int("new_axis", 1)),
         node("SequenceConstruct", ["x", "x"], ["two"]), node("SequenceErase", ["two", "zero"], ["one"]),
         node("SequenceInsert", ["one", "w", "zero"], ["both"]),
         node("ConcatFromSequence", ["both"], ["z"], attr_int("axis", 1))]
write(model(graph(nodes, ins=(X, ("w", F32, [2, 1])), outs=(("y", F32, ["k", 3]), ("z", F32, [2, 4])),
                  weights=[i64("zero", [], 0), tensor("yes", BOOL, [], b"\1")])))
