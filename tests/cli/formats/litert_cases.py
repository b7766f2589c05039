"""The cases of beside_litert.py, a function for each family: pairs of a name and a model."""
import struct

import litert_plain
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
    m = Model()
    x = m.input(np.arange(32768).astype("int16").reshape(8, -1), ([10 ** r.uniform(-4, -2)], [0], 0))
    m.op("RSQRT", [x], [("int16", ([10 ** r.uniform(-3, -1)], [0], 0))])
    yield "rsqrt-i16", m
    for depth in (2, 3, 7):  # sums of exponentials everywhere in the table of their reciprocals
        m = Model()
        x = m.input(ints(r, (4000, depth), "int16"), ([10 ** r.uniform(-5, -3)], [0], 0))
        m.op("SOFTMAX", [x], [("int16", ([2.0**-15], [0], 0))], "Softmax", beta=1.0)
        yield "softmax-i16-%d" % depth, m
    for name, option in (("EQUAL", "Equal"), ("NOT_EQUAL", "NotEqual"), ("LESS", "Less")):
        for dtype in ("int16", "int8"):
            m = Model()
            scale = [10 ** r.uniform(-5, -1)], [0], 0
            x = ints(r, (999,), dtype, -120, 120)
            y = (x + ints(r, (999,), "int8", -7, 7)).astype(dtype)
            m.op(name, [m.input(x, scale), m.input(y, scale)], ["bool"], option)
            yield "%s-%s" % (name.lower(), dtype), m


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


def windows(size, stride, filter, same):
    """How many, and the pad before the first."""
    if not same:
        return (size - filter) // stride + 1, 0
    n = -(-size // stride)
    return n, max((n - 1) * stride + filter - size, 0) // 2


def mediapipe(r, Model):
    """MediaPipe's custom operators, as its kernels define them (mediapipe/util/tflite/operations)."""
    for same in (True, False):
        s, k = r.integers(1, 4, 2), r.integers(1, 5, 2)
        x, w, bias = reals(r, (2, *r.integers(1, 7, 2), 3)), reals(r, (4, *k, 3)), reals(r, 4)
        size, pad = [], []
        for d in range(2):
            p = max(k[d] - (x.shape[d + 1] - 1) % s[d] - 1, 0) if same else 0
            size.append(s[d] * (x.shape[d + 1] - 1) + k[d] - p)
            pad.append(p // 2)
        y = np.zeros((2, size[0] + k[0] + pad[0], size[1] + k[1] + pad[1], 4), np.float64) + bias
        for i in np.ndindex(x.shape[1], x.shape[2]):
            y[:, i[0] * s[0]:i[0] * s[0] + k[0], i[1] * s[1]:i[1] * s[1] + k[1]] += np.einsum(
                "nc,ohwc->nhwo", x[:, i[0], i[1]], w, dtype=np.float64)
        m = Model(1e-5)
        m.op("Convolution2DTransposeBias", [m.input(x), m.const(w), m.const(bias)], ["float32"],
             custom=struct.pack("<3i", 1 if same else 2, s[1], s[0]))
        m.want = [y[:, pad[0]:pad[0] + size[0], pad[1]:pad[1] + size[1]].astype(np.float32)]
        yield "transpose_bias-%s" % same, m

        k, s = r.integers(1, 4, 2), r.integers(1, 4, 2)
        x = reals(r, (2, *r.integers(4, 9, 2), 3))
        (h, top), (v, left) = (windows(x.shape[d + 1], s[d], k[d], same) for d in range(2))
        best, place = np.zeros((2, h, v, 3), np.float32), np.zeros((2, h, v, 3), np.float32)
        for n, i, j, c in np.ndindex(best.shape):
            seen = {}
            for a, b in np.ndindex(*k):
                yy, xx = i * s[0] - top + a, j * s[1] - left + b
                if 0 <= yy < x.shape[1] and 0 <= xx < x.shape[2]:
                    seen[a * k[1] + b] = x[n, yy, xx, c]
            at = max(seen, key=seen.get)
            best[n, i, j, c], place[n, i, j, c] = seen[at], np.float32(at) + np.float32(0.1)
        m = Model()
        m.op("MaxPoolingWithArgmax2D", [m.input(x)], ["float32", "float32"],
             custom=struct.pack("<6i", 1 if same else 2, s[1], s[0], k[1], k[0], 0) + b"\0" * 16)
        m.want = [best, place]
        yield "pool_argmax-%s" % same, m

    k = r.integers(1, 4, 2)
    x = reals(r, (2, 3, 4, 5))
    place = r.integers(0, k[0] * k[1], x.shape)
    y = np.zeros((2, 3 * k[0], 4 * k[1], 5), np.float32)
    for n, i, j, c in np.ndindex(x.shape):
        y[n, i * k[0] + place[n, i, j, c] // k[1], j * k[1] + place[n, i, j, c] % k[1], c] = x[n, i, j, c]
    m = Model()
    m.op("MaxUnpooling2D", [m.input(x), m.input((place + 0.1).astype(np.float32))], ["float32"],
         custom=struct.pack("<6i", 1, k[1], k[0], k[1], k[0], 0))
    m.want = [y]
    yield "unpool", m

    place = np.stack([r.permutation(y[0].size)[:x[0].size] for _ in x]).astype(np.int32)
    y = np.zeros((2, y[0].size), np.float32)
    np.put_along_axis(y, place.astype(np.int64), x.reshape(2, -1), 1)
    m = Model()
    m.op("LiteRtMaxUnpooling2D", [m.input(x), m.input(place.reshape(x.shape))], ["float32"],
         custom=struct.pack("<6i", 1, k[1], k[0], k[1], k[0], 0))
    m.want = [y.reshape(2, 3 * k[0], 4 * k[1], 5)]
    yield "unpool_by_index", m

    width = int(r.integers(1, 8))
    values, at = reals(r, (1 << width,)), r.integers(0, 1 << width, x.shape)
    packed = np.packbits([int(b) for i in at.flat for b in f"{i:0{width}b}"])
    m = Model()
    m.op("TFLM_DECODE", [m.const(packed), m.const(np.frombuffer(
        bytes([0, 1, 0, 0, 1, width, 0]).ljust(16, b"\0") + values.tobytes(), np.uint8))], ["float32"])
    m.tensors[m.outputs[0]].shape = list(x.shape)
    m.op("ADD", [m.outputs[0], m.input(x)], ["float32"])
    m.want = [values[at] + x]
    yield "decode", m


def sparse(r, Model):
    """Constants stored as trees, of random dimensions, orders, blocks and levels."""
    for dtype in ("float32", "int8"):
        rank = r.integers(1, 5)
        blocks = {int(d): int(r.integers(1, 4)) for d in range(rank) if r.random() < 0.4}
        x = some(r, [r.integers(1, 5) * blocks.get(d, 1) for d in range(rank)], dtype)
        x[r.random(x.shape) < 0.7] = 0
        x.flat[0] = 1
        m = Model()
        m.op("DENSIFY", [m.sparse(x, r.permutation(rank), blocks, r.random(rank) < 0.5)], [dtype], "Densify")
        m.op("ADD" if dtype == "float32" else "MAXIMUM", [m.outputs[0], m.input(np.zeros(1, dtype))], [dtype])
        yield "densify-" + dtype, m
    w = reals(r, (8, 12))
    w[r.random(w.shape) < 0.8] = 0
    w[0, 0] = 1
    m = Model(1e-5)
    ins = [m.input(reals(r, (3, 12))), m.sparse(w, [0, 1], {}, [True, False]), m.const(reals(r, 8))]
    m.op("FULLY_CONNECTED", ins, ["float32"], "FullyConnected")
    yield "sparse-fully_connected", m


def looked_up(r, Model):
    ids = ints(r, r.integers(1, 9), "int32", 0, 5)
    m = Model()
    m.op("EMBEDDING_LOOKUP", [m.input(ids), m.const(reals(r, (6, 3)))], ["float32"])
    yield "embedding-f32", m
    for scales in (1, 6):
        m = Model(1e-6)
        quant = (r.uniform(0.01, 0.1, scales), [0] * scales, 0)
        m.op("EMBEDDING_LOOKUP", [m.input(ids), m.const(ints(r, (6, 3), "int8"), quant)], ["float32"])
        yield "embedding-int8-%d" % scales, m

    m = Model(1e-6)
    m.other = True
    ids = np.cumsum(np.append(0, r.integers(0, 2, 6))).astype(np.int32)
    m.op("SEGMENT_SUM", [m.input(reals(r, (7, 3))), m.const(ids)], ["float32"], "SegmentSum")
    yield "segment_sum", m

    for how in ("SUM", "PROD", "MAX", "MIN"):
        m = Model(1e-6)
        dtype = str(r.choice(["float32", "int32"]))
        x = some(r, (6, 2), dtype) if dtype == "float32" else ints(r, (6, 2), dtype, -9, 9)
        m.op("UNSORTED_SEGMENT_" + how, [m.input(x), m.input(ints(r, 6, "int32", -1, 3)), m.const(np.int32(4))],
             [dtype], "UnsortedSegment" + how.capitalize())
        yield "unsorted_segment-" + how.lower(), m

    for dtype in MOVED:
        shape = r.integers(1, 6, r.integers(1, 5))
        n = r.integers(1, 1 + min(5, np.prod(shape)))
        at = np.array(np.unravel_index(r.permutation(np.prod(shape))[:n], shape)).T
        at = np.array(sorted(map(tuple, at))).astype(r.choice(["int32", "int64"]))
        value = some(r, n if r.random() < 0.5 else (), dtype)
        if len(shape) == 1:
            at = at[:, 0]
        m = Model()
        m.op("SPARSE_TO_DENSE", [m.input(at), m.const(shape.astype(at.dtype)), m.input(np.asarray(value)),
             m.const(np.asarray(some(r, (), dtype)))], [dtype], "SparseToDense")
        yield "sparse_to_dense-" + dtype, m

    for dtype in ("float32", "float64", "int32", "int64"):
        x = ints(r, r.integers(1, 6, r.integers(0, 4)), "int32", -20, 20)
        m = Model()
        m.op("BUCKETIZE", [m.input(x.astype(dtype))], ["int32"], "Bucketize",
             boundaries=np.unique(np.append(ints(r, 9, "int32", -20, 20), 3.5)).astype(np.float32))
        yield "bucketize-" + dtype, m

    m = Model()
    shape = r.integers(1, 5, 4)
    a, b = np.where(r.random(4) < 0.5, 1, shape), shape[r.integers(0, 4):]
    ones = reals(r, ())
    m.op("BROADCAST_ARGS", [m.const(a.astype(np.int32)), m.const(b.astype(np.int32))], ["int32"])
    m.op("BROADCAST_TO", [m.input(ones), m.outputs[0]], ["float32"], "BroadcastTo")
    yield "broadcast_args", m

    for bits in (8, 16):
        m = Model(1e-6)
        m.op("FAKE_QUANT", [m.input(reals(r, (5, 40)))], ["float32"], "FakeQuant", min=-float(r.uniform(0, 4)),
             max=float(r.uniform(0.1, 4)), numBits=bits)
        yield "fake_quant-%d" % bits, m


def boxes(r, Model):
    n, most = int(r.integers(1, 40)), int(r.integers(1, 20))
    corner = r.random((n, 2)).astype(np.float32)
    box = np.hstack([corner, corner + r.random((n, 2)).astype(np.float32) / 2])
    limits = [np.float32(r.uniform(0.2, 0.8)), np.float32(r.uniform(0, 0.3))]
    score = r.permutation(n).astype(np.float32) / n
    for sigma in (0, 0.3):
        m = Model(1e-6)
        ins = [m.input(box), m.input(score), m.const(np.int32(most)), *[m.const(v) for v in limits]]
        m.op("NON_MAX_SUPPRESSION_V5", ins + [m.const(np.float32(sigma))], ["int32", "float32", "int32"],
             "NonMaxSuppressionV5")
        yield "nms_v5-%g" % sigma, m
    m = Model()
    ins = [m.input(box), m.input(score), m.const(np.int32(most)), *[m.const(v) for v in limits]]
    m.op("NON_MAX_SUPPRESSION_V4", ins, ["int32", "int32"], "NonMaxSuppressionV4")
    yield "nms_v4", m


def volumes(r, Model):
    for same in (True, False):
        k, s, c, o = r.integers(1, 4, 3), r.integers(1, 3, 3), int(r.integers(1, 4)), int(r.integers(1, 4))
        size = r.integers(1, 5, 3)
        out = size * s if same else (size - 1) * s + k
        m = Model(1e-5)
        ins = [m.const(np.array([2, *out, o], np.int32)), m.const(reals(r, (*k, o, c)))]
        ins.append(m.input(reals(r, (2, *size, c))))
        if r.random() < 0.5:
            ins.append(m.const(reals(r, o)))
        m.op("CONV_3D_TRANSPOSE", ins, ["float32"], "Conv3D", padding=0 if same else 1, strideD=int(s[0]),
             strideH=int(s[1]), strideW=int(s[2]), fusedActivationFunction=int(r.integers(0, 2)))
        yield "conv_3d_transpose-%s" % same, m


INT4, RESOURCE = 17, 13


def nibbles(v):
    """Two elements to a byte, the first one in the lower half."""
    v = np.append(v.reshape(-1), np.zeros(v.size % 2, v.dtype)).astype(np.uint8) & 15
    return (v[0::2] | v[1::2] << 4).astype(np.uint8).tobytes()


def packed(r, Model):
    """Weights of 4 bits: of float layers (quantised as they run), of integer layers, of tables."""
    n, k, rows = int(r.integers(1, 9)), 2 * int(r.integers(1, 17)), int(r.integers(1, 4))
    for each in (False, True):
        w = ints(r, (n, k), "int8", -7, 7)
        scale = (r.uniform(0.01, 0.1, n if each else 1), [0] * (n if each else 1), 0)
        m = Model(2e-2)
        i4 = m.tensor("int8", w.shape, nibbles(w), scale, INT4)
        m.op("FULLY_CONNECTED", [m.input(reals(r, (rows, k))), i4, m.const(reals(r, n))], ["float32"],
             "FullyConnected", asymmetricQuantizeInputs=bool(r.integers(2)))
        yield "int4-hybrid-%s" % each, m

        m = Model()
        i4 = m.tensor("int8", w.shape, nibbles(w), scale, INT4)
        s_in, s_out = [0.05], [0.5]
        bias = m.const(ints(r, n, "int32", -500, 500), ([0.05 * s for s in scale[0]], scale[1], 0))
        m.op("FULLY_CONNECTED", [m.input(ints(r, (rows, k), "int8"), (s_in, [3], 0)), i4, bias],
             [("int8", (s_out, [-4], 0))], "FullyConnected")
        yield "int4-int8-%s" % each, m

    w = ints(r, (n, 3, 3, 4), "int8", -7, 7)
    scale = (r.uniform(0.01, 0.1, n), [0] * n, 0)
    m = Model()
    i4 = m.tensor("int8", w.shape, nibbles(w), scale, INT4)
    bias = m.const(ints(r, n, "int32", -500, 500), ([0.05 * s for s in scale[0]], scale[1], 0))
    m.op("CONV_2D", [m.input(ints(r, (1, 6, 5, 4), "int8"), ([0.05], [3], 0)), i4, bias],
         [("int8", ([0.5], [-4], 0))], "Conv2D", strideW=1, strideH=2)
    yield "int4-conv", m
    m = Model(2e-2)
    i4 = m.tensor("int8", w.shape, nibbles(w), scale, INT4)
    m.op("CONV_2D", [m.input(reals(r, (1, 6, 5, 4))), i4, m.const(reals(r, n))], ["float32"], "Conv2D", strideW=1,
         strideH=1)
    yield "int4-conv-hybrid", m
    w = ints(r, (1, 3, 3, 6), "int8", -7, 7)
    scale = (r.uniform(0.01, 0.1, 6), [0] * 6, 3)
    m = Model()
    i4 = m.tensor("int8", w.shape, nibbles(w), scale, INT4)
    bias = m.const(ints(r, 6, "int32", -500, 500), ([0.05 * s for s in scale[0]], scale[1], 0))
    m.op("DEPTHWISE_CONV_2D", [m.input(ints(r, (1, 6, 5, 6), "int8"), ([0.05], [3], 0)), i4, bias],
         [("int8", ([0.5], [-4], 0))], "DepthwiseConv2D", strideW=1, strideH=1, depthMultiplier=1)
    yield "int4-depthwise", m
    size = 32 * int(r.integers(1, 3))
    w = ints(r, (n, 2 * size), "int8", -7, 7)
    x, scale = reals(r, (rows, 2 * size)), r.uniform(0.01, 0.1, (n, 2)).astype(np.float16)
    for exact in (False, True):
        m = Model(1e-4 if exact else 0.1)  # XNNPACK rounds x to 8 bits
        m.op("FULLY_CONNECTED", [m.input(x), m.blocks(w, nibbles(w), scale, INT4)], ["float32"], "FullyConnected")
        m.other = True
        m.want = [x @ (w * np.repeat(scale.astype(np.float32), size, 1)).T] if exact else None
        yield "int4-blocks-%s" % exact, m
    w = ints(r, (6, 8), "int8", -7, 7)
    m = Model(1e-6)
    i4 = m.tensor("int8", w.shape, nibbles(w), (r.uniform(0.01, 0.1, 6), [0] * 6, 0), INT4)
    m.op("EMBEDDING_LOOKUP", [m.input(ints(r, 5, "int32", 0, 5)), i4], ["float32"])
    yield "int4-embedding", m
    m = Model(1e-6)
    i4 = m.tensor("int8", w.shape, nibbles(w), ([0.05], [0], 0), INT4)
    m.op("DEQUANTIZE", [i4], ["float32"])
    m.op("ADD", [m.outputs[0], m.input(reals(r, (6, 8)))], ["float32"], "Add")
    yield "int4-dequantize", m


def spectra(r, Model):
    """Transforms of rows and of images, cut off or filled up, through what may come between them and real numbers."""
    for ends in ("COMPLEX_ABS", "REAL", "IMAG"):
        batch = r.integers(1, 4, r.integers(0, 3))
        h, w = (1, 2)[r.integers(2)] * 2 ** int(r.integers(0, 3)), 2 ** int(r.integers(1, 6))
        x = reals(r, (*batch, max(1, h + r.integers(-2, 3)), max(1, w + r.integers(-3, 4))))
        m = Model(2e-5 * (h * w) ** 0.5)
        m.op("RFFT2D", [m.input(x), m.const(np.array([h, w], np.int32))], ["complex64"], "Rfft2d")
        rank = x.ndim
        m.op("EXPAND_DIMS", [m.outputs[0], m.const(np.int32(r.integers(-rank - 1, rank + 1)))], ["complex64"])
        if r.random() < 0.5:
            m.op("RESHAPE", [m.outputs[0], m.const(np.array([-1, w // 2 + 1], np.int32))], ["complex64"])
            m.op("EXPAND_DIMS", [m.outputs[0], m.const(np.int32(-3))], ["complex64"])
            m.op("SQUEEZE", [m.outputs[0]], ["complex64"], "Squeeze", squeezeDims=[0])
        m.op(ends, [m.outputs[0]], ["float32"])
        yield "rfft2d-" + ends.lower(), m


def flow(r, Model):
    m = Model(1e-6)
    x, y = reals(r, (3, 4)), reals(r, (4,))
    m.op("STABLEHLO_COMPOSITE", [m.input(x), m.input(y)], ["float32", "float32"], "StableHLOComposite", name="a.norm",
         decompositionSubgraphIndex=1, version=1, compositeAttributes=list(b"\0\0\1\0\0$\1"))
    body = m.subgraph()
    a, b = body.input(x), body.input(y)
    body.op("ADD", [a, b], ["float32"], "Add")
    total = body.outputs[0]
    body.op("RSQRT", [total], ["float32"])
    body.outputs = [total, body.op("MUL", [body.op("ABS", [total], ["float32"], "Abs")[0], a], ["float32"], "Mul")[0]]
    yield "composite", m

    for once in (True, False):
        m = Model()
        x, first = reals(r, (2, 3)), reals(r, (2, 3))
        value = m.input(x)
        if once:
            m.op("CALL_ONCE", [], [], "CallOnce", initSubgraphIndex=1)
            start = m.subgraph()
            h = start.op("VAR_HANDLE", [], [RESOURCE], "VarHandle", sharedName="v")
            start.op("ASSIGN_VARIABLE", [h[0], start.const(first)], [], "AssignVariable")
        h = m.op("VAR_HANDLE", [], [RESOURCE], "VarHandle", sharedName="v")[0]
        if not once:
            m.op("ASSIGN_VARIABLE", [h, m.const(first)], [], "AssignVariable")
        before = m.op("READ_VARIABLE", [h], ["float32"], "ReadVariable")[0]
        total = m.op("ADD", [before, value], ["float32"], "Add")[0]
        m.op("ASSIGN_VARIABLE", [h, total], [], "AssignVariable")
        again = m.op("VAR_HANDLE", [], [RESOURCE], "VarHandle", sharedName="v")[0]
        after = m.op("READ_VARIABLE", [again], ["float32"], "ReadVariable")[0]
        m.outputs = [before, m.op("MUL", [after, value], ["float32"], "Mul")[0]]
        yield "variable-%s" % once, m


FAMILIES = [arithmetic, placed, mediapipe, sparse, looked_up, boxes, volumes, packed, spectra, flow]


def cases(r, Model):
    for family in FAMILIES + litert_plain.FAMILIES:
        yield from family(r, Model)
