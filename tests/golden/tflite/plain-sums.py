# operators that are one of ours: sums, extremes, segments, products of matrices
# arenac: check --dump-after infer
from tflite_bytes import *

tensors = [tensor("x", F32, [2, 4, 6]), tensor("b", BOOL, [2, 4]), tensor("y", F32, [2, 6, 3])]
ops, outs = [], []


def const(*v, shape=None, dtype=I32):
    data = b"".join(map(i32 if dtype == I32 else f32, v))
    tensors.append(tensor("c%d" % len(tensors), dtype, [len(v)] if shape is None else shape, data))
    return len(tensors) - 1


def add(name, ins, *shapes, dtype=F32, options=()):
    first = len(tensors)
    dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * len(shapes)
    tensors.extend(tensor(name.lower(), d, s) for d, s in zip(dtypes, shapes))
    outs.extend(range(first, len(tensors)))
    ops.append(op(name, ins, list(range(first, len(tensors))), *options))


KEEP = (27, {0: i8(1)})
for name in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
    add(name, [0, const(1)], [2, 1, 6], options=KEEP)
for name in ("REDUCE_ANY", "REDUCE_ALL"):
    add(name, [1, const(1)], [2], dtype=BOOL)
for name in ("ARG_MAX", "ARG_MIN"):
    add(name, [0, const(2, shape=[])], [2, 4], dtype=I32, options=(40 if name == "ARG_MAX" else 57, {0: i8(2)}))
add("TOPK_V2", [0, const(2, shape=[])], [2, 4, 2], [2, 4, 2], dtype=(F32, I32))
add("CUMSUM", [0, const(2, shape=[])], [2, 4, 6], options=(102, {0: i8(1)}))
for name in "UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM UNSORTED_SEGMENT_MIN".split():
    add(name, [0, const(1, 0), const(3, shape=[])], [3, 4, 6])
add("BATCH_MATMUL", [0, 2], [2, 4, 3], options=(101, {}))
w = const(*range(18), shape=[3, 6], dtype=F32)
add("FULLY_CONNECTED", [0, w, const(1, 2, 3, dtype=F32)], [2, 4, 3], options=(8, {0: i8(1), 2: i8(1)}))
write(tensors, ops, [0, 1, 2], outs)
