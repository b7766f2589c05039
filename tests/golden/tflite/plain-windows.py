# operators that are one of ours: convolutions, pools, images, recurrent ones
# arenac: check --dump-after infer
from tflite_bytes import *

tensors = [tensor("x", F32, [1, 5, 7, 4]), tensor("v", F32, [1, 3, 4, 5, 2]), tensor("s", F32, [1, 4]),
           tensor("t", F32, [3, 1, 2])]
ops, outs = [], []


def const(dtype, shape, v):
    n = 1
    for d in shape:
        n *= d
    tensors.append(tensor("c%d" % len(tensors), dtype, shape, (i32 if dtype == I32 else f32)(v) * n))
    return len(tensors) - 1


def ints_const(*v):
    tensors.append(tensor("c%d" % len(tensors), I32, [len(v)], b"".join(map(i32, v))))
    return len(tensors) - 1


def state(shape):
    tensors.append(tensor("state%d" % len(tensors), F32, shape, _5=i8(1)))
    return len(tensors) - 1


def add(name, ins, shape, options):
    tensors.append(tensor(name.lower(), F32, shape))
    outs.append(len(tensors) - 1)
    ops.append(op(name, ins, outs[-1:], *options))


SAME = 0
add("CONV_2D", [0, const(F32, [3, 3, 3, 4], 0.5), const(F32, [3], 1)], [1, 3, 4, 3],
    (1, {0: i8(SAME), 1: i32(2), 2: i32(2), 3: i8(1)}))
add("DEPTHWISE_CONV_2D", [0, const(F32, [1, 3, 3, 8], 0.5), const(F32, [8], 1)], [1, 3, 5, 8],
    (2, {0: i8(1), 1: i32(1), 2: i32(1), 3: i32(2)}))
add("TRANSPOSE_CONV", [ints_const(1, 10, 14, 2), const(F32, [2, 2, 2, 4], 0.5), 0], [1, 10, 14, 2],
    (49, {0: i8(SAME), 1: i32(2), 2: i32(2)}))
add("CONV_3D", [1, const(F32, [2, 2, 2, 2, 3], 0.5), const(F32, [3], 1)], [1, 3, 4, 5, 3],
    (106, {0: i8(SAME), 1: i32(1), 2: i32(1), 3: i32(1)}))
for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
    add(name, [0], [1, 3, 4, 4], (5, {0: i8(SAME), 1: i32(2), 2: i32(2), 3: i32(3), 4: i32(3)}))
add("LOCAL_RESPONSE_NORMALIZATION", [0], [1, 5, 7, 4], (13, {0: i32(1), 1: f32(1), 2: f32(0.5), 3: f32(0.75)}))
add("RESIZE_BILINEAR", [0, ints_const(10, 4)], [1, 10, 4, 4], (15, {3: i8(1)}))
add("RESIZE_NEAREST_NEIGHBOR", [0, ints_const(10, 4)], [1, 10, 4, 4], (74, {1: i8(1)}))
add("SVDF", [2, const(F32, [2, 4], 0.5), const(F32, [2, 3], 0.25), -1, state([1, 6])], [1, 2],
    (6, {0: i32(1), 1: i8(1)}))
gates = [const(F32, [2, 2], 0.25) for _ in range(8)] + [-1] * 3 + [const(F32, [2], 0.5) for _ in range(4)] + [-1] * 2
add("UNIDIRECTIONAL_SEQUENCE_LSTM", [3] + gates + [state([1, 2]), state([1, 2])] + [-1] * 4, [3, 1, 2],
    (71, {0: i8(4), 3: i8(1)}))
write(tensors, ops, list(range(4)), outs)
