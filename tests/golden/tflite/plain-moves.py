# operators that are one of ours: elements that move, are repeated or are made
# arenac: check --dump-after infer
from tflite_bytes import *

tensors = [tensor("x", F32, [2, 4, 6]), tensor("image", F32, [1, 4, 4, 4]), tensor("m", F32, [2, 3]),
           tensor("part", F32, [1, 2, 2])]
ops, outs = [], []


def const(*v):
    tensors.append(tensor("c%d" % len(tensors), I32, [len(v)], b"".join(map(i32, v))))
    return len(tensors) - 1


def pairs(*v):
    tensors.append(tensor("c%d" % len(tensors), I32, [len(v) // 2, 2], b"".join(map(i32, v))))
    return len(tensors) - 1


def number(v, dtype=I32):
    tensors.append(tensor("n%d" % len(tensors), dtype, [], (i32 if dtype == I32 else f32)(v)))
    return len(tensors) - 1


def add(name, ins, *shapes, dtype=F32, options=()):
    first = len(tensors)
    tensors.extend(tensor(name.lower(), dtype, s) for s in shapes)
    made = list(range(first, len(tensors)))
    outs.extend(made)
    ops.append(op(name, ins, made, *options))


add("CONCATENATION", [0, 0], [2, 8, 6], options=(10, {0: i32(1)}))
add("RESHAPE", [0, const(8, 6)], [8, 6], options=(17, {0: ints(8, 6)}))
add("SQUEEZE", [1], [4, 4, 4], options=(30, {0: ints(0)}))
add("EXPAND_DIMS", [0, number(1)], [2, 1, 4, 6])
pads = pairs(0, 0, 1, 2, 0, 3)
add("PAD", [0, pads], [2, 7, 9])
add("PADV2", [0, pads, number(2.5, F32)], [2, 7, 9])
add("MIRROR_PAD", [0, pads], [2, 7, 9], options=(77, {0: i8(0)}))
add("TRANSPOSE", [0, const(2, 0, 1)], [6, 2, 4])
add("GATHER", [0, const(3, 0)], [2, 2, 6], options=(23, {0: i32(1)}))
at = pairs(0, 3, 1, 0)
add("GATHER_ND", [0, at], [2, 6])
add("SCATTER_ND", [at, 2, const(2, 4, 3)], [2, 4, 3])
add("SPLIT", [number(2), 0], [2, 4, 3], [2, 4, 3])
add("SPLIT_V", [0, const(1, 5), number(2)], [2, 4, 1], [2, 4, 5])
add("PACK", [0, 0], [2, 2, 4, 6], options=(59, {0: i32(2), 1: i32(1)}))
add("UNPACK", [0], [4, 6], [4, 6], options=(64, {0: i32(2)}))
add("STRIDED_SLICE", [0, const(0, 3, 1), const(2, 0, 6), const(1, -1, 2)], [2, 3, 3], options=(32, {}))
add("SLICE", [0, const(0, 1, 2), const(2, 3, -1)], [2, 3, 4])
add("TILE", [2, const(2, 1)], [4, 3])
add("BROADCAST_TO", [2, const(4, 2, 3)], [4, 2, 3])
add("REVERSE_V2", [0, const(1)], [2, 4, 6])
add("REVERSE_SEQUENCE", [0, const(1, 4)], [2, 4, 6], options=(87, {0: i32(1)}))
add("MATRIX_DIAG", [2], [2, 3, 3])
add("MATRIX_SET_DIAG", [outs[-1], 2], [2, 3, 3])
add("SPACE_TO_DEPTH", [1], [1, 2, 2, 16], options=(19, {0: i32(2)}))
add("DEPTH_TO_SPACE", [1], [1, 8, 8, 1], options=(94, {0: i32(2)}))
none = pairs(0, 0, 0, 0)
add("SPACE_TO_BATCH_ND", [1, const(2, 2), none], [4, 2, 2, 4])
add("BATCH_TO_SPACE_ND", [outs[-1], const(2, 2), none], [1, 4, 4, 4])
add("ONE_HOT", [const(0, 2), number(3), number(1, F32), number(0, F32)], [2, 3], options=(61, {0: i32(-1)}))
add("FILL", [const(2, 2), number(1.5, F32)], [2, 2])
add("RANGE", [number(0), number(6), number(2)], [3], dtype=I32)
add("SHAPE", [0], [3], dtype=I32)
add("RANK", [0], [], dtype=I32)
add("DYNAMIC_UPDATE_SLICE", [0, 3, const(0, 1, 2)], [2, 4, 6])
write(tensors, ops, [0, 1, 2, 3], outs)
