"""More cases of beside_litert.py: operators of TFLite that are one of ours and that the random graphs of
tests/foreign/tflite_graphs.py, which are of bytes, do not have."""
import numpy as np


def reals(r, shape, scale=2.0):
    return (r.standard_normal(shape) * scale).astype(np.float32)


# LiteRT's reference kernels do not have these, or (the last one) leave out the channel at the radius' end.
OTHER = ("CEIL", "ROUND", "LOCAL_RESPONSE_NORMALIZATION")


def one(Model, op, arrays, outs, options=None, tolerance=0.0, **fields):
    """arrays: inputs, and constants as lists of one."""
    m = Model(tolerance)
    m.other = op in OTHER
    m.op(op, [m.const(v[0]) if isinstance(v, list) else m.input(v) for v in arrays], outs, options, **fields)
    return op.lower(), m


def maps(r, Model):
    shape = r.integers(1, 7, r.integers(1, 5))
    x = reals(r, shape)
    for op in ("FLOOR", "CEIL", "SQUARE", "ZEROS_LIKE", "RELU_0_TO_1", "SIGN", "ROUND"):
        v = np.round(x * 2) / 2 if op == "ROUND" else x  # ties, too
        yield one(Model, op, [v], ["float32"])
    for op in ("SIN", "COS", "LOG", "SQRT"):
        yield one(Model, op, [np.abs(x) if op in ("LOG", "SQRT") else x], ["float32"], tolerance=2e-6)
    y = reals(r, shape)
    y[y == 0] = 1
    yield one(Model, "DIV", [x, y], ["float32"], "Div", 1e-6)
    yield one(Model, "POW", [np.abs(x), y], ["float32"], "Pow", 1e-5)
    for op in ("FLOOR_DIV", "FLOOR_MOD"):
        a, b = r.integers(-50, 50, shape, "int32"), r.integers(1, 9, shape, "int32") * r.choice([-1, 1], shape)
        yield one(Model, op, [a, b.astype("int32")], ["int32"], "".join(w.title() for w in op.split("_")))
    yield one(Model, "LESS_EQUAL", [np.round(x), np.round(y)], ["bool"], "LessEqual")
    p, q = r.random(shape) < 0.5, r.random(shape) < 0.5
    yield one(Model, "LOGICAL_OR", [p, q], ["bool"])
    yield one(Model, "LOGICAL_AND", [p, q], ["bool"])
    yield one(Model, "LOGICAL_NOT", [p], ["bool"])
    a, b = r.integers(-1000, 1000, shape, "int32"), r.integers(0, 31, shape, "int32")
    yield one(Model, "BITWISE_XOR", [a, b], ["int32"])
    yield one(Model, "RIGHT_SHIFT", [a, b], ["int32"])
    yield one(Model, "BITCAST", [x], ["int32"])


def sums(r, Model):
    x = reals(r, r.integers(1, 6, r.integers(1, 5)), 1.0)
    axis = np.array([r.integers(-x.ndim, x.ndim)], "int32")
    keep = bool(r.random() < 0.5)
    yield one(Model, "REDUCE_PROD", [x, [axis]], ["float32"], "Reducer", 1e-5, keepDims=keep)
    for op in ("REDUCE_ANY", "REDUCE_ALL"):
        yield one(Model, op, [r.random(x.shape) < 0.5, [axis]], ["bool"], "Reducer", keepDims=keep)
    yield one(Model, "CUMSUM", [x, [axis[0]]], ["float32"], "Cumsum", 1e-5, exclusive=keep,
              reverse=bool(r.random() < 0.5))
    for op in ("PROD", "MAX", "SUM", "MIN"):
        at = r.integers(0, 4, x.shape[:1], "int32")
        at[0] = 3  # LiteRT reads none that has no row
        count = [np.int32(4)]
        name = {"PROD": "UNSORTED_SEGMENT_PROD", "MAX": "UNSORTED_SEGMENT_MAX", "SUM": "UNSORTED_SEGMENT_SUM",
                "MIN": "UNSORTED_SEGMENT_MIN"}[op]
        yield one(Model, name, [r.integers(-9, 9, x.shape, "int32"), [at], count], ["int32"])
    yield one(Model, "RANK", [x], ["int32"], "Rank")
    depth, on, off = [np.int32(5)], [np.float32(2)], [np.float32(-1)]
    yield one(Model, "ONE_HOT", [r.integers(-1, 6, x.shape[:2], "int32"), depth, on, off], ["float32"], "OneHot",
              axis=int(r.choice([-1, 0])))
    at = np.stack([r.permutation(6)[:4], r.integers(0, 3, 4)], 1).astype("int32")
    yield one(Model, "SCATTER_ND", [at, reals(r, (4, 2)), [np.array([6, 3, 2], "int32")]], ["float32"], "ScatterNd")


def windows(r, Model):
    x = reals(r, (2, *r.integers(3, 9, 2), 3))
    k = [int(v) for v in r.integers(1, 4, 2)]
    yield one(Model, "L2_POOL_2D", [x], ["float32"], "Pool2D", 1e-5, padding=int(r.integers(0, 2)),
              strideH=1 + k[0] % 2, strideW=1 + k[1] % 2, filterHeight=k[0], filterWidth=k[1])
    yield one(Model, "LOCAL_RESPONSE_NORMALIZATION", [x], ["float32"], "LocalResponseNormalization", 1e-5,
              radius=int(r.integers(1, 3)), bias=1.0, alpha=0.5, beta=0.75)
    v, w = reals(r, (1, *r.integers(3, 6, 3), 2)), reals(r, (*r.integers(1, 4, 3), 2, 4), 0.5)
    yield one(Model, "CONV_3D", [v, [w], [reals(r, 4)]], ["float32"], "Conv3D", 1e-4, padding=int(r.integers(0, 2)),
              strideD=1, strideH=1, strideW=2, dilationDFactor=1, dilationHFactor=1, dilationWFactor=1)


def state(m, shape):
    i = m.tensor("float32", shape)
    m.tensors[i].isVariable = True
    return i


def recurrent(r, Model):
    batch, width, units, rank, memory = (int(v) for v in r.integers(1, 5, 5))
    m = Model(1e-5)
    weights = [m.const(reals(r, (units * rank, width))), m.const(reals(r, (units * rank, memory))),
               m.const(reals(r, units))]
    m.op("SVDF", [m.input(reals(r, (batch, width))), *weights, state(m, (batch, units * rank * memory))], ["float32"],
         "SVDF", rank=rank, fusedActivationFunction=int(r.integers(0, 2)))
    yield "svdf", m

    m = Model(1e-5)
    major = bool(r.random() < 0.5)
    steps = int(r.integers(1, 5))
    x = m.input(reals(r, (steps, batch, width) if major else (batch, steps, width)))
    gates = [m.const(reals(r, (units, width), 0.5)) for _ in range(4)]
    gates += [m.const(reals(r, (units, units), 0.5)) for _ in range(4)] + [-1] * 3
    gates += [m.const(reals(r, units, 0.5)) for _ in range(4)] + [-1] * 2
    m.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *gates, state(m, (batch, units)), state(m, (batch, units)), *[-1] * 4],
         ["float32"], "UnidirectionalSequenceLSTM", fusedActivationFunction=4, timeMajor=major)
    yield "lstm", m


def flow(r, Model):
    for c in (True, False):
        m = Model(1e-6)
        x, y = reals(r, (3, 4)), reals(r, (4,))
        m.op("IF", [m.input(np.array([c])), m.input(x), m.input(y)], ["float32"], "If", thenSubgraphIndex=1,
             elseSubgraphIndex=2)
        for op in ("ADD", "MUL"):
            branch = m.subgraph()
            branch.op(op, [branch.input(x), branch.input(y)], ["float32"], op.title())
        yield "if-%s" % c, m

    m = Model(1e-5)
    x, n = reals(r, (2, 3)), np.array([0], "int32")
    m.op("WHILE", [m.input(n), m.input(x)], ["int32", "float32"], "While", condSubgraphIndex=1, bodySubgraphIndex=2)
    again, body = m.subgraph(), m.subgraph()
    i = again.input(n)
    again.input(x)
    again.op("LESS", [i, again.const(r.integers(0, 5, 1, "int32"))], ["bool"], "Less")
    i, v = body.input(n), body.input(x)
    more = body.op("ADD", [i, body.const(np.array([1], "int32"))], ["int32"], "Add")[0]
    body.outputs = [more, body.op("MUL", [v, body.const(np.float32([1.5]))], ["float32"], "Mul")[0]]
    yield "while", m


FAMILIES = [maps, sums, windows, recurrent, flow]
