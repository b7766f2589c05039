# sizes and places that data decides: range, fill, broadcast_to, slice, strided_slice, reshape, topk_v2, non_max_suppression
# arenac: check --dump-after infer --bound counting=9 --bound filled=9 --bound many=9
import struct

from tflite_bytes import *

word = lambda *v: struct.pack("<%di" % len(v), *v)
tensors, ops, at = [], [], {}


def t(name, dtype, dim, data=None):
    at[name] = len(tensors)
    tensors.append(tensor(name, dtype, dim, data))


def add(code, ins, outs, *options):
    ops.append(op(code, [at[i] for i in ins.split()], [at[o] for o in outs.split()], *options))


for name, dtype, dim in [("n", I32, []), ("x", F32, [5, 2]), ("flags", BOOL, [5]), ("boxes", F32, [5, 4]), ("scores", F32, [5]),
                         ("counting", I32, [-1]), ("size", I32, [2]), ("filled", F32, [-1, 2]), ("many", F32, [-1, 2]),
                         ("first", F32, [-1, 2]), ("last", F32, [-1, 2]), ("where", I64, [-1, 1]), ("shape", I32, [2]),
                         ("there", I32, [1]), ("line", I64, [-1]), ("best", F32, [-1]), ("places", I32, [-1]),
                         ("kept", I32, [-1]), ("found", I32, []), ("column", F32, [1, 5]), ("soft", I32, [-1]),
                         ("softer", F32, [-1]), ("soft_found", I32, [])]:
    t(name, dtype, dim)
for name, v in [("zero", [0]), ("one", [1]), ("two", [2])]:
    t(name, I32, [], word(*v))
for name, v in [("zeros", [0, 0]), ("ones", [1, 1]), ("l0", [0]), ("l1", [1])]:
    t(name, I32, [len(v)], word(*v))
for name, v in [("half", 0.5), ("none", 0.0)]:
    t(name, F32, [], struct.pack("<f", v))
t("row", F32, [1, 2], struct.pack("<2f", 1, 2))
add("RANGE", "zero n one", "counting")
add("PACK", "n two", "size", 59, {0: i32(2)})
add("FILL", "size half", "filled")
add("BROADCAST_TO", "row size", "many")
add("SLICE", "x zeros size", "first")
add("STRIDED_SLICE", "x size ones ones", "last", 32, {0: i32(2), 1: i32(3)})
add("WHERE", "flags", "where")
add("SHAPE", "where", "shape", 55, {0: i8(I32)})
add("STRIDED_SLICE", "shape l0 l1 l1", "there", 32, {})
add("RESHAPE", "where there", "line")
add("TOPK_V2", "scores n", "best places")
add("NON_MAX_SUPPRESSION_V4", "boxes scores n half none", "kept found")
add("NON_MAX_SUPPRESSION_V5", "boxes scores n half none none", "soft softer soft_found")
outs = "counting filled many first last line best kept found soft softer".split()
write(tensors, ops, [at[i] for i in "n x flags boxes scores".split()], [at[o] for o in outs])
