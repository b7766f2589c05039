"""The cases of beside_litert.py, a function for each family: pairs of a name and a model."""
import numpy as np


def ints(r, shape, dtype, lo=None, hi=None):
    kind = np.iinfo(dtype)
    return r.integers(kind.min if lo is None else lo, kind.max if hi is None else hi, shape, dtype, endpoint=True)


def reals(r, shape, scale=2.0):
    return (r.standard_normal(shape) * scale).astype(np.float32)


def arithmetic(r, Model):
    for k in (2, 3, 5):
        shape = r.integers(1, 6, r.integers(0, 5))
        m = Model(1e-6)
        m.op("ADD_N", [m.input(reals(r, shape)) for _ in range(k)], ["float32"], "AddN")
        yield "add_n-f32-%d" % k, m
    m = Model()
    m.op("ADD_N", [m.input(ints(r, (3, 7), "int32")) for _ in range(3)], ["int32"], "AddN")
    yield "add_n-i32", m
    m = Model(2e-6)
    y, x = reals(r, (4, 9)), reals(r, (4, 9))
    y[0, :4], x[0, :4] = [0, -0.0, 1, 0], [1, -1, 0, -2]
    m.op("ATAN2", [m.input(y), m.input(x)], ["float32"], "ATan2")
    yield "atan2-f32", m


MOVED = ["float32", "int32", "int8", "int64"]


def some(r, shape, dtype):
    return reals(r, shape) if dtype == "float32" else ints(r, shape, dtype)


def placed(r, Model):
    for dtype in MOVED:
        rank = r.integers(2, 5)
        seq, batch = r.permutation(rank)[:2]
        x = some(r, r.integers(1, 6, rank), dtype)
        m = Model()
        if dtype == "int8":
            x = x.view("uint8")  # what LiteRT has
        length = ints(r, x.shape[batch], r.choice(["int32", "int64"]), 1, x.shape[seq])
        m.op("REVERSE_SEQUENCE", [m.input(x), m.input(length)], [x.dtype], "ReverseSequence", seqDim=int(seq),
             batchDim=int(batch))
        yield "reverse_sequence-" + dtype, m

        m = Model()
        x = some(r, r.integers(1, 7, rank), dtype)
        start = ints(r, rank, "int32", -2, 6)
        box = some(r, [r.integers(1, d + 1) for d in x.shape], dtype)
        m.op("DYNAMIC_UPDATE_SLICE", [m.input(x), m.input(box), m.input(start)], [dtype], "DynamicUpdateSlice")
        yield "dynamic_update_slice-" + dtype, m

        m = Model()
        m.op("MATRIX_DIAG", [m.input(some(r, r.integers(1, 6, r.integers(1, 4)), dtype))], [dtype], "MatrixDiag")
        yield "matrix_diag-" + dtype, m

        m = Model()
        x = some(r, r.integers(1, 6, rank), dtype)
        diagonal = some(r, [*x.shape[:-2], min(x.shape[-2:])], dtype)
        m.op("MATRIX_SET_DIAG", [m.input(x), m.input(diagonal)], [dtype], "MatrixSetDiag")
        yield "matrix_set_diag-" + dtype, m


FAMILIES = [arithmetic, placed]


def cases(r, Model):
    for family in FAMILIES:
        yield from family(r, Model)
