"""Random quantised TFLite graphs, and LiteRT's reference kernels: results must be bit-identical. As in onnx_graphs.py a
node is added to existing operands and computed at once; nodes that LiteRT refuses are skipped."""
import contextlib
import io
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli" / "formats"))
from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402
from beside_litert import Model  # noqa: E402

from graph import Graph, Maker, Node  # noqa: E402

SUFFIX, MOST = ".tflite", 8000
CHANNELS = (1, 2, 3, 4, 5, 8, 8, 12, 16, 17)
NONE, RELU, RELU_N1, RELU6 = range(4)


def model(g):
    m, at = Model(), {"": -1}
    for k, v in g.feeds.items():
        at[k] = m.input(v, g.quant.get(k))
    for k, v in g.consts.items():
        at[k] = m.const(v, g.quant.get(k))
    for n in g.nodes:
        outs = [(g.values[k].dtype.name, g.quant.get(k)) for k in n.outs]
        fields = {k: v for k, v in n.attrs.items() if k != "options"}
        for k, i in zip(n.outs, m.op(n.op, [at[i] for i in n.ins], outs, n.attrs.get("options"), **fields)):
            at[k] = i
            m.tensors[i].shape = list(g.values[k].shape)
    m.outputs = [at[k] for k in g.outputs]
    return m.bytes()


def run(g, feeds=None):
    """The outputs, by LiteRT's reference kernels."""
    with contextlib.redirect_stderr(io.StringIO()):
        it = Interpreter(model_content=model(g), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        it.allocate_tensors()
    for d, v in zip(it.get_input_details(), (feeds or g.feeds).values()):
        it.set_tensor(d["index"], v)
    it.invoke()
    return [it.get_tensor(d["index"]) for d in it.get_output_details()]


class TfliteMaker(Maker):
    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = self.pick([np.int8, np.int8, np.int8, np.uint8, np.int16])

    def some_quant(self):
        i = np.iinfo(self.dtype)
        zero = 0 if self.dtype == np.int16 else self.pick([i.min, i.max, (i.min + i.max + 1) // 2,
                                                            self.int(i.min, i.max)])
        scale = 2.0 ** self.r.uniform(-8, -2) if self.dtype != np.int16 else 2.0 ** self.r.uniform(-15, -10)
        return [float(np.float32(scale))], [zero], 0

    def data(self, shape, dtype=None):
        i = np.iinfo(dtype or self.dtype)
        if self.chance(0.15):
            return self.r.choice([i.min, i.max], shape).astype(dtype or self.dtype)
        return self.r.integers(i.min, i.max + 1, shape).astype(dtype or self.dtype)

    def input(self, shape, quant=None):
        k = self.name("x")
        self.g.quant[k] = quant or self.some_quant()
        self.g.feeds[k] = self.g.values[k] = self.data(shape)
        return k

    def const(self, v, quant=None):
        k = self.name("c")
        if quant:
            self.g.quant[k] = quant
        self.g.consts[k] = self.g.values[k] = np.asarray(v)
        return k

    def shape(self, rank=4):
        return (self.pick([1, 1, 1, 2]),) + tuple(self.int(1, 10) for _ in range(rank - 2)) + (self.pick(CHANNELS),)

    def value(self, k):
        return self.g.values[k]

    def quant(self, k):
        return self.g.quant[k]

    def any(self, rank=None, fits=lambda v: True, shape=None, quant=None):
        """An operand of the graph's type."""
        known = [k for k, v in self.g.values.items() if v.dtype == self.dtype and k in self.g.quant and
                 k not in self.g.consts and (rank is None or v.ndim == rank) and fits(v) and
                 (quant is None or self.quant(k) == quant)]
        if known and self.chance(0.85):
            return self.pick(known[-5:] if self.chance(0.7) else known)
        shape = self.shape(rank or self.int(2, 4)) if shape is None else shape
        if self.chance(0.25):
            return self.const(self.data(shape), quant or self.some_quant())
        return self.input(shape, quant)

    def node(self, op, ins, quants, options=None, dtypes=None, **fields):
        n = Node(op, list(ins), [self.name("t") for _ in quants], dict(fields, options=options))
        values = {k: self.value(k) for k in ins if k}
        one = Graph([n], {k: v for k, v in values.items() if k not in self.g.consts},
                    {k: v for k, v in values.items() if k in self.g.consts}, dict(values), list(n.outs))
        one.quant = {k: self.quant(k) for k in values if k in self.g.quant}
        for i, (k, q) in enumerate(zip(n.outs, quants)):
            one.values[k] = np.zeros((), (dtypes or [self.dtype] * len(quants))[i])
            if q:
                one.quant[k] = q
        try:
            got = run(one)
        except (RuntimeError, ValueError):
            return None
        if any(v.size > MOST or v.size == 0 for v in got):
            return None
        self.g.values.update(zip(n.outs, got))
        self.g.quant.update({k: q for k, q in zip(n.outs, quants) if q})
        self.g.nodes.append(n)
        return n.outs

    def spread(self, x, gain):
        """A quantisation for results that are gain times x."""
        q = self.some_quant()
        return [float(np.float32(self.quant(x)[0][0] * gain * 2.0 ** self.r.uniform(-1, 1)))], q[1], 0

    # ---- families

    def weights(self, shape, outputs, axis):
        dtype = np.uint8 if self.dtype == np.uint8 else np.int8
        w = self.r.integers(0 if dtype == np.uint8 else -127, 256 if dtype == np.uint8 else 128, shape).astype(dtype)
        s = 2.0 ** self.r.uniform(-10, -5)
        if dtype == np.uint8:
            return self.const(w, ([float(np.float32(s))], [self.int(0, 255)], 0)), [s]
        many = self.chance(0.7)
        scales = [float(np.float32(s * 2.0 ** self.r.uniform(-2, 2))) for _ in range(outputs)] if many else \
            [float(np.float32(s))]
        return self.const(w, (scales, [0] * len(scales), axis)), scales

    def bias(self, x, scales, outputs, spread):
        if self.chance(0.2):
            return ""
        dtype = np.int64 if self.dtype == np.int16 else np.int32
        both = [float(np.float32(np.float32(s) * np.float32(self.quant(x)[0][0]))) for s in scales]
        return self.const(self.r.integers(-spread, spread + 1, outputs).astype(dtype), (both, [0] * len(both), 0))

    def after(self, x, scales, fan_in):
        return self.spread(x, float(np.median(scales)) * 60 * np.sqrt(fan_in))

    def conv(self):
        x = self.any(4)
        n, h, w, c = self.value(x).shape
        kh, kw = self.int(1, min(4, h)), self.int(1, min(4, w))
        d = {"dilationHFactor": self.pick([1, 1, 1, 2]), "dilationWFactor": self.pick([1, 1, 1, 2])}
        move = {"strideH": self.int(1, 2), "strideW": self.int(1, 2), "padding": self.int(0, 1),
                "fusedActivationFunction": self.pick([NONE, NONE, RELU, RELU6, RELU_N1])}
        if d["dilationHFactor"] + d["dilationWFactor"] > 2:
            move["strideH"] = move["strideW"] = 1
        if self.chance(0.4):
            m = self.pick([1, 1, 1, 2, 3])
            k, s = self.weights((1, kh, kw, c * m), c * m, 3)
            b = self.bias(x, s, c * m, 300)  # none at all is not TFLite's
            return b and self.node("DEPTHWISE_CONV_2D", [x, k, b], [self.after(x, s, kh * kw)], "DepthwiseConv2D",
                             depthMultiplier=m, **move, **d)
        oc = self.pick(CHANNELS)
        k, s = self.weights((oc, kh, kw, c), oc, 0)
        self.node("CONV_2D", [x, k, self.bias(x, s, oc, 2000)], [self.after(x, s, kh * kw * c)], "Conv2D", **move, **d)

    def transpose_conv(self):
        x = self.any(4)
        n, h, w, c = self.value(x).shape
        kh, kw, s, oc = self.int(1, 3), self.int(1, 3), self.int(1, 2), self.pick(CHANNELS)
        k, scales = self.weights((oc, kh, kw, c), oc, 0)
        same = self.int(0, 1)
        size = (n, h * s if same else (h - 1) * s + kh, w * s if same else (w - 1) * s + kw, oc)
        self.node("TRANSPOSE_CONV", [self.const(np.array(size, np.int32)), k, x] +
                  ([b] if (b := self.bias(x, scales, oc, 300)) else []), [self.after(x, scales, kh * kw * c)],
                  "TransposeConv", padding=1 - same, strideH=s, strideW=s)

    def dense(self):
        x = self.any(self.int(2, 3))
        c, oc = self.value(x).shape[-1], self.pick(CHANNELS)
        k, s = self.weights((oc, c), oc, 0)
        if self.dtype == np.int16 or self.chance(0.5):
            self.g.quant[k] = (s[:1], self.g.quant[k][1][:1], 0)
            s = s[:1]
        self.node("FULLY_CONNECTED", [x, k, self.bias(x, s, oc, 2000)], [self.after(x, s, c)], "FullyConnected",
                  keepNumDims=True, fusedActivationFunction=self.pick([NONE, RELU, RELU6]))

    def batch_matmul(self):
        x = self.any(3)
        b, i, k = self.value(x).shape
        n = self.int(1, 6)
        if self.dtype == np.int16 and self.chance(0.5):  # weights of int8
            turned = self.chance(0.5)
            w = self.r.integers(-127, 128, (n, k) if turned else (k, n)).astype(np.int8)
            s = float(np.float32(2.0 ** self.r.uniform(-10, -5)))
            y = self.const(w, ([s], [0], 0))
            return self.node("BATCH_MATMUL", [x, y], [self.spread(x, s * 60 * np.sqrt(k))], "BatchMatMul", adjY=turned)
        y = self.any(3, lambda v: v.shape[0] == b and v.shape[1] == k, (b, k, n))
        self.node("BATCH_MATMUL", [x, y], [self.spread(x, self.quant(y)[0][0] * 60 * np.sqrt(k))], "BatchMatMul")

    def binary(self):
        x = self.any()
        s = self.value(x).shape

        def fits(v):
            try:
                return v.ndim == len(s) and np.prod(np.broadcast_shapes(v.shape, s)) <= MOST
            except ValueError:
                return False

        op = self.pick(["ADD", "ADD", "ADD", "SUB", "MUL", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"])
        same = op in ("MAXIMUM", "MINIMUM")
        y = self.any(None, fits, tuple(d if self.chance(0.6) else 1 for d in s), self.quant(x) if same else None)
        if self.chance(0.1):
            y = x
        ins = [x, y] if self.chance(0.5) else [y, x]
        if same:
            return self.node(op, ins, [self.quant(x)], "MaximumMinimum")
        gain = self.pick([1, 2]) if op in ("ADD", "SUB") else self.quant(y)[0][0] * 60
        name = {"ADD": "Add", "SUB": "Sub", "MUL": "Mul", "SQUARED_DIFFERENCE": "SquaredDifference"}[op]
        act = {} if op == "SQUARED_DIFFERENCE" else {"fusedActivationFunction": self.pick([NONE, NONE, RELU, RELU6])}
        self.node(op, ins, [self.spread(x, gain)], name, **act)

    def unary(self):
        x = self.any()
        i = np.iinfo(self.dtype)
        op = self.pick(["RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU", "HARD_SWISH", "LOGISTIC", "TANH", "SOFTMAX",
                        "LOG_SOFTMAX", "ABS", "L2_NORMALIZATION", "QUANTIZE", "PRELU", "EXP", "ELU",
                        "GELU"])  # NEG: LiteRT leaves scales and zero points out
        wide = self.dtype == np.int16
        if op == "SOFTMAX":
            q = ([1 / 32768.0 if wide else 1 / 256.0], [0 if wide else int(i.min)], 0)
            return self.node(op, [x], [q], "Softmax", beta=1.0)
        if op == "LOG_SOFTMAX":
            return self.node(op, [x], [([16 / 256.0], [int(i.max)], 0)], "LogSoftmax")
        if op == "LOGISTIC":
            return self.node(op, [x], [([1 / 32768.0 if wide else 1 / 256.0], [0 if wide else int(i.min)], 0)])
        if op == "TANH":
            return self.node(op, [x], [([1 / 32768.0 if wide else 1 / 128.0], [0 if wide else int(i.min) + 128], 0)])
        if op == "L2_NORMALIZATION":
            return self.node(op, [x], [([1 / 128.0], [int(i.min) + 128], 0)], "L2Norm")
        if op in ("PRELU", "GELU") and wide:
            return  # LiteRT takes a slope of the wrong scale, and rounds erfc in another way
        if op == "PRELU":
            s = self.value(x).shape
            a = self.const(self.data((1,) * (len(s) - 2) + s[-1:]), self.some_quant())
            return self.node(op, [x, a], [self.spread(x, 1)])
        fields = {"LEAKY_RELU": {"options": "LeakyRelu", "alpha": float(np.float32(self.r.uniform(0.01, 0.9)))},
                  "HARD_SWISH": {"options": "HardSwish"}, "ABS": {"options": "Abs"}, "EXP": {"options": "Exp"},
                  "QUANTIZE": {"options": "Quantize"}, "GELU": {"options": "Gelu"}}
        f = dict(fields.get(op, {}))
        self.node(op, [x], [self.spread(x, 1)], f.pop("options", None), **f)

    def pool(self):
        x = self.any(4)
        h, w = self.value(x).shape[1:3]
        self.node(self.pick(["MAX_POOL_2D", "AVERAGE_POOL_2D"]), [x], [self.quant(x)], "Pool2D",
                  filterHeight=self.int(1, min(h, 4)), filterWidth=self.int(1, min(w, 4)), strideH=self.int(1, 3),
                  strideW=self.int(1, 3), padding=self.int(0, 1),
                  fusedActivationFunction=self.pick([NONE, NONE, NONE, RELU, RELU6]))

    def reduce(self):
        x = self.any()
        s = self.value(x).shape
        if not s:
            return
        axes = sorted(int(a) for a in self.r.choice(len(s), self.int(1, len(s)), replace=False))
        op = self.pick(["MEAN", "MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"])
        if op == "SUM" and self.dtype != np.uint8:
            return  # LiteRT's reference kernel leaves results unwritten
        n = np.prod([s[a] for a in axes]) if op == "SUM" else 1
        q = self.quant(x) if op.startswith("REDUCE") or self.chance(0.3) else self.spread(x, np.sqrt(n))
        self.node(op, [x, self.const(np.array(axes, np.int32))], [q], "Reducer", keepDims=self.chance(0.5))

    def reshape(self):
        x = self.any()
        shape = np.array(self.factors(self.value(x).size, 3), np.int32)
        self.node("RESHAPE", [x, self.const(shape)], [self.quant(x)], "Reshape", newShape=shape)

    def squeeze(self):
        x = self.any()
        s = self.value(x).shape
        if self.chance(0.5) and len(s) < 4:
            return self.node("EXPAND_DIMS", [x, self.const(np.array(self.int(0, len(s)), np.int32))], [self.quant(x)],
                             "ExpandDims")
        ones = [i for i, d in enumerate(s) if d == 1]
        if ones:
            self.node("SQUEEZE", [x], [self.quant(x)], "Squeeze", squeezeDims=[self.pick(ones)])

    def transpose(self):
        x = self.any(None, lambda w: w.ndim > 0)  # LiteRT reads past the end of a scalar
        p = self.r.permutation(self.value(x).ndim).astype(np.int32)
        self.node("TRANSPOSE", [x, self.const(p)], [self.quant(x)], "Transpose")

    def slice(self):
        x = self.any()
        s = self.value(x).shape
        begin = [self.int(0, d - 1) for d in s]
        if self.chance(0.5):
            size = [-1 if self.chance(0.3) else self.int(1, d - b) for d, b in zip(s, begin)]
            return self.node("SLICE", [x, self.const(np.array(begin, np.int32)), self.const(np.array(size, np.int32))],
                             [self.quant(x)], "Slice")
        step = [self.pick([1, 1, 2, -1]) for _ in s]
        end = [self.int(0, b) - 1 - d if k < 0 else self.int(b + 1, d) for d, b, k in zip(s, begin, step)]
        shrink = self.pick([0, 0, 0, 1])
        if shrink and step[0] < 0:
            shrink = 0
        ins = [x] + [self.const(np.array(v, np.int32)) for v in (begin, end, step)]
        self.node("STRIDED_SLICE", ins, [self.quant(x)], "StridedSlice", beginMask=self.pick([0, 0, 2]),
                  endMask=self.pick([0, 0, 1]), shrinkAxisMask=shrink)

    def concat(self):
        x = self.any()
        v = self.value(x)
        a = self.int(0, v.ndim - 1)
        q = self.quant(x)
        ins = [x] + [self.any(None, lambda w: w.ndim == v.ndim and all(
            i == a or p == d for i, (p, d) in enumerate(zip(w.shape, v.shape))),
            tuple(self.int(1, 3) if i == a else d for i, d in enumerate(v.shape)),
            None if self.dtype == np.uint8 and self.chance(0.3) else q) for _ in range(self.int(1, 3))]
        self.r.shuffle(ins)
        a -= v.ndim if self.chance(0.3) else 0
        self.node("CONCATENATION", [str(k) for k in ins], [q], "Concatenation", axis=a)

    def pack(self):
        x = self.any(self.int(2, 3))
        v, q = self.value(x), self.quant(x)
        if self.chance(0.5):
            ins = [x] + [self.any(None, lambda w: w.shape == v.shape, v.shape, q) for _ in range(self.int(0, 2))]
            return self.node("PACK", ins, [q], "Pack", axis=self.int(0, v.ndim), valuesCount=len(ins))
        a = self.int(0, v.ndim - 1)
        if v.shape[a] <= 5:
            self.node("UNPACK", [x], [q] * v.shape[a], "Unpack", axis=a, num=v.shape[a])

    def split(self):
        x = self.any()
        v, q = self.value(x), self.quant(x)
        a = self.int(0, v.ndim - 1)
        n = v.shape[a]
        if self.chance(0.5):
            k = self.pick([k for k in range(1, n + 1) if n % k == 0])
            if k <= 4:
                self.node("SPLIT", [self.const(np.array(a, np.int32)), x], [q] * k, "Split", numSplits=k)
        elif n > 2:
            at = self.int(1, n - 1)
            self.node("SPLIT_V", [x, self.const(np.array([at, n - at], np.int32)), self.const(np.array(a, np.int32))],
                      [q] * 2, "SplitV", numSplits=2)

    def pad(self):
        x = self.any()
        n = self.value(x).ndim
        pads = self.const(self.r.integers(0, 3, (n, 2)).astype(np.int32))
        op = self.pick(["PAD", "PADV2", "MIRROR_PAD"])
        if op == "PADV2":
            return self.node(op, [x, pads, self.const(self.data((1,)), self.quant(x))], [self.quant(x)], "PadV2")
        self.node(op, [x, pads], [self.quant(x)], "Pad" if op == "PAD" else "MirrorPad",
                  **({"mode": self.int(0, 1)} if op == "MIRROR_PAD" else {}))

    def resize(self):
        x = self.any(4)
        size = self.const(np.array([self.int(1, 12), self.int(1, 12)], np.int32))
        half = self.int(0, 1)
        name = self.pick(["ResizeBilinear", "ResizeNearestNeighbor"])
        self.node("RESIZE_BILINEAR" if "Bi" in name else "RESIZE_NEAREST_NEIGHBOR", [x, size], [self.quant(x)], name,
                  halfPixelCenters=bool(half), alignCorners=not half and self.chance(0.5))

    def blocks(self):
        x = self.any(4)
        n, h, w, c = self.value(x).shape
        q = self.quant(x)
        kind = self.int(0, 3)
        if kind == 0:
            return self.node("DEPTH_TO_SPACE", [x], [q], "DepthToSpace", blockSize=2) if c % 4 == 0 else None
        if kind == 1:
            return self.node("SPACE_TO_DEPTH", [x], [q], "SpaceToDepth", blockSize=2) if h % 2 + w % 2 == 0 else None
        if kind == 2:
            pads = self.const(np.array([[0, h % 2], [0, w % 2]], np.int32))
            return self.node("SPACE_TO_BATCH_ND", [x, self.const(np.array([2, 2], np.int32)), pads], [q],
                             "SpaceToBatchND")
        if n % 2 == 0:
            self.node("BATCH_TO_SPACE_ND", [x, self.const(np.array([2, 1], np.int32)),
                                            self.const(np.array([[0, self.int(0, 1)], [0, 0]], np.int32))], [q],
                      "BatchToSpaceND")

    def moved(self):
        x = self.any()
        v, q = self.value(x), self.quant(x)
        a = self.int(0, v.ndim - 1)
        kind = self.int(0, 3)
        if kind == 0:
            i = self.const(self.r.integers(0, v.shape[a], self.int(1, 5)).astype(np.int32))
            return self.node("GATHER", [x, i], [q], "Gather", axis=a)
        if kind == 1:
            return self.node("REVERSE_V2", [x, self.const(np.array([a], np.int32))], [q], "ReverseV2")
        if kind == 2:
            return self.node("TILE", [x, self.const(np.array([self.pick([1, 1, 2]) for _ in v.shape], np.int32))], [q],
                             "Tile")
        shape = [d if d > 1 else self.pick([1, 2, 3]) for d in v.shape]
        self.node("BROADCAST_TO", [x, self.const(np.array(shape, np.int32))], [q], "BroadcastTo")

    def choose(self):
        x = self.any()
        v, q = self.value(x), self.quant(x)
        if q and q[0] and q[0][0] >= 1:
            return  # LiteRT multiplies by a shift that it takes to be less than that
        y = self.any(None, lambda w: w.shape == v.shape, v.shape, q)
        op, name = self.pick([("LESS", "Less"), ("GREATER", "Greater"), ("EQUAL", "Equal"),
                              ("GREATER_EQUAL", "GreaterEqual"), ("NOT_EQUAL", "NotEqual")])
        c = self.node(op, [x, y], [None], name, [np.bool_])
        if c and v.size > 1 and self.chance(0.7):  # LiteRT makes a scalar of a single element
            self.node("SELECT_V2", [c[0], x, y], [q], "SelectV2")

    def arg(self):
        x = self.any()
        a = self.const(np.array(self.int(0, self.value(x).ndim - 1), np.int32))
        op = self.pick(["ARG_MAX", "ARG_MIN"])
        self.node(op, [x, a], [None], "ArgMax" if op == "ARG_MAX" else "ArgMin", [np.int32], outputType=2)

    def graph(self, size):
        families = [self.conv] * 6 + [self.binary] * 4 + [self.unary] * 4 + [self.pool] * 2 + [self.reshape] * 2 + \
            [self.concat] * 3 + [self.slice] * 2 + [self.dense] * 2 + \
            [self.transpose_conv, self.batch_matmul, self.reduce, self.squeeze, self.transpose, self.pack, self.split,
             self.pad, self.resize, self.blocks, self.moved, self.choose, self.arg]
        if self.chance(0.5):
            families = [self.pick(families) for _ in range(self.int(3, 8))]
        self.input(self.shape())
        self.grow(families, size)
        g = self.g
        read = {k for n in g.nodes for k in n.ins}
        g.outputs = [k for n in g.nodes for k in n.outs if k not in read or self.chance(0.08)]
        return g.swept()


def make(seed, size):
    return TfliteMaker(seed).graph(size)
