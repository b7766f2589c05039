"""Random TensorFlow graphs, and TensorFlow with its optimisations off.

As in onnx_graphs.py a node is added to existing operands and computed at once; nodes that TensorFlow refuses are
skipped. Graphs consist of its raw operators, so that TensorFlow itself writes the attributes."""
import os

import numpy as np

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

from graph import NodeMaker  # noqa: E402

SUFFIX = ".pb"
EXACT = "Abs Neg Relu Relu6 Identity StopGradient ZerosLike OnesLike Snapshot PreventGradient".split()
ROUND = "Sign Ceil Floor Rint Round".split()
SMOOTH = ("Cos Elu Erf Erfc Exp Sigmoid Sin Square Tanh Atan Selu Softplus Softsign Expm1 Sinh Cosh Asinh LeakyRelu "
          "L2Loss").split()
POSITIVE = "Log Log1p Sqrt Rsqrt Reciprocal Inv".split()
JUMPS = {*ROUND, "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "ArgMax", "ArgMin", "TopKV2",
         "Cast", "IsNan", "IsInf", "IsFinite", "FloorDiv", "FloorMod", "Mod", "FakeQuantWithMinMaxArgs",
         "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "MaxPoolWithArgmax", "TruncateDiv",
         "TruncateMod", "DivNoNan", "MulNoNan"}


def call(n, values, **more):
    """The results of a node on tensors by name."""
    definition, ins, given = op_def_registry.get(n.op), list(n.ins), {}
    rest = len(ins) - len(definition.input_arg)
    for i in definition.input_arg:
        if i.number_attr or i.type_list_attr:
            given[i.name] = [values[k] for k in ins[:rest + 1]]
            ins = ins[rest + 1:]
        else:
            given[i.name] = values[ins.pop(0)]
    made = getattr(tf.raw_ops, n.op)(**given, **n.attrs, **more)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def graph(g):
    """TensorFlow's graph, and the tensors by name."""
    made, values = tf.Graph(), {}
    with made.as_default():
        for k, v in g.feeds.items():
            values[k] = tf.compat.v1.placeholder(v.dtype, v.shape, name=k)
        for k, v in g.consts.items():
            values[k] = tf.constant(v, name=k)
        for n in g.nodes:
            values.update(zip(n.outs, call(n, values, name=n.outs[0])))
    return made, values


def model(g):
    return graph(g)[0].as_graph_def().SerializeToString()


def more(g, path):
    """The command line after the model."""
    at = {k: "%s:%d" % (n.outs[0], i) if i else n.outs[0] for n in g.nodes for i, k in enumerate(n.outs)}
    return ["--outputs", ",".join(at[k] for k in g.outputs)]


def run(g, feeds=None):
    """The outputs, by TensorFlow."""
    made, values = graph(g)
    o = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    o.graph_options.optimizer_options.opt_level = -1
    o.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.compat.v1.Session(graph=made, config=o) as s:
        got = s.run([values[k] for k in g.outputs], {values[k]: v for k, v in (feeds or g.feeds).items()})
    return [np.asarray(v) for v in got]


class TfMaker(NodeMaker):
    EXACT, JUMPS = {*EXACT, *ROUND, "Maximum", "Minimum", "MaxPool", "MaxPoolV2", "MaxPool3D"}, JUMPS

    def probe(self, one):
        n = one.nodes[0]
        return [v.numpy() for v in call(n, {k: tf.constant(self.value(k)) for k in n.ins})][:len(n.outs)]

    def ints(self, *v):
        return self.const(np.array(v, self.pick([np.int32, np.int32, np.int64])))

    def int32(self, v):
        return self.const(np.array(v, np.int32))

    def same(self, op, ins, n_outs=1, **attrs):
        """A node that moves numbers and changes none."""
        return self.node(op, ins, n_outs, exact=True, **attrs)

    def beyond(self, x, least):
        """abs(x) + least"""
        made = self.node("Abs", [x])
        made = made and self.node("AddV2", [made[0], self.const(np.float32(least))])
        return made and made[0]

    # ---- element by element

    def unary(self):
        op = self.pick(EXACT + ROUND + SMOOTH * 2 + POSITIVE)
        x = self.any(exact=op in JUMPS)
        if op in POSITIVE:
            x = self.beyond(x, 0.5)
        self.node(op, [x], **({"alpha": float(np.float32(self.r.uniform(0, 1)))} if op == "LeakyRelu" else {}))

    def binary(self):
        op = self.pick("Add AddV2 AddV2 Sub Sub Mul Mul RealDiv Div Maximum Minimum SquaredDifference Pow DivNoNan "
                       "MulNoNan Xdivy Xlogy Xlog1py Atan2 FloorDiv FloorMod AddN AccumulateNV2".split())
        x = self.any(exact=op in JUMPS)
        y = x if self.chance(0.1) else self.beside(x)
        if op in ("AddN", "AccumulateNV2"):
            s = self.value(x).shape
            ins = [x] + [self.operand(lambda v: v.shape == s, s) for _ in range(self.int(0, 3))]
            return self.node(op, ins, **({"shape": s} if op == "AccumulateNV2" else {}))
        if op in ("RealDiv", "Div", "FloorDiv", "FloorMod", "Xdivy"):
            y = self.beyond(y, 0.75)
        if op in ("Xlogy", "Xlog1py", "Pow"):
            x, y = (self.beyond(x, 0.5), y) if op == "Pow" else (x, self.beyond(y, 0.5))
        if op == "Atan2":
            x, y = self.beyond(x, 0.5), self.beyond(y, 0.5)
        if x and y:
            self.node(op, [x, y] if op not in ("Add", "Mul", "Sub") or self.chance(0.5) else [y, x])

    def integer(self):
        dtype = self.pick([np.int32, np.int64, np.int32])
        x = self.any(dtype)
        op = self.pick("AddV2 Sub Mul Maximum Minimum Neg Abs Sign FloorDiv FloorMod TruncateDiv TruncateMod Mod "
                       "BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift SquaredDifference Square "
                       "Pow".split())
        if op in ("Neg", "Abs", "Sign", "Invert", "Square"):
            return self.node(op, [x])
        y = self.beside(x)
        if op in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod"):
            y = self.const(np.asarray(self.pick([1, 2, 3, -2, 7]), dtype))
        if op in ("LeftShift", "RightShift", "Pow"):
            y = self.const(np.asarray(self.pick([0, 1, 2]), dtype))
        made = self.node(op, [x, y])
        if made and np.abs(self.value(made[0]).astype(np.float64)).max(initial=0) > 1e6:
            self.node("FloorMod", [made[0], self.const(np.asarray(97, dtype))])

    def compare(self):
        dtype = self.pick([np.float32, np.int32, np.int64])
        x = self.any(dtype, exact=True)
        op = self.pick("Equal NotEqual Less LessEqual Greater GreaterEqual IsFinite".split())
        self.node(op, [x] if op == "IsFinite" else [x, self.beside(x)])

    def logic(self):
        op = self.pick("LogicalAnd LogicalOr LogicalNot All Any".split())
        x = self.any(np.bool_)
        if op in ("All", "Any"):
            return self.node(op, [x, self.axes(x)], keep_dims=self.chance(0.5))
        self.node(op, [x] if op == "LogicalNot" else [x, self.beside(x)])

    def where(self):
        x = self.any(self.pick([np.float32, np.float32, np.int32]))
        s, dtype = self.value(x).shape, self.value(x).dtype.type
        if self.chance(0.5):
            return self.same("SelectV2", [self.beside(x, np.dtype(np.bool_)), x, self.beside(x)])
        shape = s if self.chance(0.6) else s[:1] if self.chance(0.6) else ()
        self.same("Select", [self.operand(lambda v: v.shape == shape, shape, np.bool_), x,
                             self.operand(lambda v: v.shape == s, s, dtype)])

    def cast(self):
        types = [np.float32, np.int32, np.int64, np.bool_, np.uint8, np.int8]
        x, to = self.any(self.pick(types), exact=True), self.pick(types)
        if to != np.uint8 or self.value(x).min(initial=0) >= 0:  # undefined otherwise
            self.node("Cast", [x], DstT=to, Truncate=False)

    def clip(self):
        x = self.any(self.pick([np.float32, np.int32]))
        lo = self.data((), self.value(x).dtype.type)
        self.same("ClipByValue", [x, self.const(lo), self.const(np.asarray(lo + 2, lo.dtype))])

    def fake_quant(self):
        x = self.any(exact=True, least=1)
        how = {"num_bits": self.pick([8, 8, 4, 16]), "narrow_range": self.chance(0.5)}
        lo, hi = np.float32(-self.r.uniform(0, 3)), np.float32(self.r.uniform(0.1, 3))
        kind = self.int(0, 2)
        if kind == 0:
            return self.node("FakeQuantWithMinMaxArgs", [x], min=float(lo), max=float(hi), **how)
        if kind == 1:
            return self.node("FakeQuantWithMinMaxVars", [x, self.const(lo), self.const(hi)], **how)
        c = self.value(x).shape[-1:]
        self.node("FakeQuantWithMinMaxVarsPerChannel", [x, self.const(np.full(c, lo)), self.const(
            hi + np.abs(self.data(c)))], **how)

    # ---- shapes

    def axes(self, x):
        n = self.value(x).ndim
        if not n:
            return self.const(np.zeros(0, np.int32))
        axes = sorted(int(a) for a in self.r.choice(n, self.int(1, n), replace=False))
        if len(axes) == 1 and self.chance(0.3):
            return self.int32(axes[0] - n if self.chance(0.5) else axes[0])
        return self.ints(*[a - n if self.chance(0.3) else a for a in axes])

    def reshape(self):
        x = self.any(self.kind())
        v = self.value(x)
        kind = self.int(0, 3)
        if kind == 0:
            ones = [i for i, d in enumerate(v.shape) if d == 1 and self.chance(0.7)]
            return self.same("Squeeze", [x], axis=ones)
        if kind == 1:
            return self.same("ExpandDims", [x, self.int32(self.int(-v.ndim - 1, v.ndim))])
        shape = self.factors(v.size, 4)
        if self.chance(0.3) and v.size:
            shape[self.int(0, len(shape) - 1)] = -1
        self.same("Reshape", [x, self.ints(*shape)])

    def transpose(self):
        x = self.any(self.kind(), least=1)
        self.same("Transpose", [x, self.ints(*self.r.permutation(self.value(x).ndim))])

    def slice(self):
        x = self.any(self.kind(), least=1)
        s = self.value(x).shape
        if self.chance(0.4):
            at = [self.int(0, d - 1) for d in s]
            size = [self.pick([-1, self.int(1, d - a)]) for d, a in zip(s, at)]
            return self.same("Slice", [x, self.int32(at), self.int32(size)])
        begin, end, step, mask = [], [], [], dict.fromkeys(["begin", "end", "shrink_axis", "new_axis", "ellipsis"], 0)
        left, at = list(s[:self.int(1, len(s))]), 0
        while left:
            if self.chance(0.1):
                mask["new_axis"] |= 1 << at
                begin, end, step, at = begin + [0], end + [0], step + [1], at + 1
                continue
            d, k = left.pop(0), self.pick([1, 1, 1, 2, 3, -1, -2])
            lo, hi = sorted(int(v) for v in self.r.integers(0, d + 1, 2))
            lo, hi = (lo, hi) if lo < hi else (0, d)
            if self.chance(0.15):
                mask["shrink_axis"] |= 1 << at
                lo, hi, k = lo, lo + 1, 1
            if k < 0:
                lo, hi = hi - 1, lo - 1 if lo else -d - 5
            else:
                lo, hi = lo if self.chance(0.7) else lo - d, hi if self.chance(0.7) or hi == d else hi - d
            mask["begin"] |= (1 << at) * self.chance(0.2)
            mask["end"] |= (1 << at) * self.chance(0.2)
            begin, end, step, at = begin + [lo], end + [hi], step + [k], at + 1
        if self.chance(0.2) and at < len(s):
            mask["ellipsis"] = 1 << self.int(0, at)
            for v, w in ((begin, 0), (end, 0), (step, 1)):
                v.insert(mask["ellipsis"].bit_length() - 1, w)
        self.same("StridedSlice", [x, self.int32(begin), self.int32(end), self.int32(step)],
                  **{k + "_mask": int(v) for k, v in mask.items()})

    def concat(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        at = a % v.ndim

        op = self.pick(["ConcatV2", "ConcatV2", "Concat", "Pack"])
        shape = v.shape if op == "Pack" else tuple(self.int(1, 4) if i == at else d for i, d in enumerate(v.shape))
        fits = (lambda w: w.shape == v.shape) if op == "Pack" else self.joins(v, at)
        ins = [x] + [self.operand(fits, shape, v.dtype.type) for _ in range(self.int(1, 3))]
        self.r.shuffle(ins)
        ins = [str(k) for k in ins]
        if op == "Pack":
            return self.same(op, ins, axis=a)
        axis = self.int32(at if op == "Concat" else a)
        self.same(op, [axis] + ins if op == "Concat" else ins + [axis])

    def split(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        n = v.shape[a]
        kind = self.int(0, 2)
        if kind == 0:
            return n <= 8 and self.same("Unpack", [x], n, num=n, axis=a)
        if kind == 1:
            parts = self.pick([k for k in range(1, n + 1) if n % k == 0 and k <= 8])
            return self.same("Split", [self.int32(a), x], parts, num_split=parts)
        cuts = sorted(int(c) for c in self.r.choice(n - 1, min(self.int(1, 3), n - 1), replace=False) + 1)
        sizes = [q - p for p, q in zip([0] + cuts, cuts + [n])]
        if self.chance(0.3):
            sizes[self.int(0, len(sizes) - 1)] = -1
        self.same("SplitV", [x, self.ints(*sizes), self.int32(a)], len(sizes), num_split=len(sizes))

    def pad(self):
        x = self.any(self.kind(), least=1)
        v = self.value(x)
        op = self.pick(["Pad", "PadV2", "MirrorPad"])
        mode = self.pick(["REFLECT", "SYMMETRIC"])
        most = [2 if op != "MirrorPad" else min(2, d - (mode == "REFLECT")) for d in v.shape]
        pads = self.const(np.array([[self.int(0, m) if self.chance(0.6) else 0 for _ in "ab"] for m in most], np.int32))
        ins = [x, pads] + ([self.const(self.data((), v.dtype.type))] if op == "PadV2" else [])
        self.same(op, ins, **({"mode": mode} if op == "MirrorPad" else {}))

    def repeat(self):
        x = self.any(self.kind(), least=1)
        v = self.value(x)
        if self.chance(0.5):
            return self.same("Tile", [x, self.ints(*[self.pick([1, 1, 2, 3]) for _ in v.shape])])
        shape = [d if d > 1 else self.pick([1, 2, 4]) for d in v.shape]
        self.same("BroadcastTo", [x, self.ints(*([self.int(1, 3)] if self.chance(0.4) else []), *shape)])

    def moved(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        kind = self.int(0, 3)
        if kind == 0:
            return self.same("ReverseV2", [x, self.ints(a)])
        if kind == 1:
            return self.same("Roll", [x, self.int32(self.int(-9, 9)), self.int32(a)])
        if v.ndim < 2:
            return None
        if kind == 2:
            return self.same("MatrixBandPart", [x, self.const(np.int64(self.int(-1, 2))), self.const(
                np.int64(self.int(-1, 2)))])
        t = self.int(0, 1)
        n = self.r.integers(1, v.shape[t] + 1, v.shape[1 - t]).astype(self.pick([np.int32, np.int64]))
        return self.same("ReverseSequence", [x, self.fresh(n)], seq_dim=t, batch_dim=1 - t)

    def gather(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        dtype = self.pick([np.int32, np.int64])
        kind = self.int(0, 3)
        if kind == 0:
            i = self.r.integers(0, v.shape[a], self.shape(self.int(0, 2)))
            return self.same("GatherV2", [x, self.fresh(i.astype(dtype)), self.int32(a)])
        if kind == 1 and v.ndim > 1:
            a = self.int(1, v.ndim - 1)
            i = self.r.integers(0, v.shape[a], v.shape[:1] + self.shape(self.int(0, 1)))
            return self.same("GatherV2", [x, self.fresh(i.astype(dtype)), self.int32(a)], batch_dims=1)
        k = self.int(1, v.ndim)
        i = np.stack([self.r.integers(0, d, 4) for d in v.shape[:k]], -1)
        if kind == 2:
            return self.same("Gather", [x, self.fresh(self.r.integers(0, v.shape[0], 3).astype(dtype))])
        return self.same("GatherNd", [x, self.fresh(i.astype(dtype))])

    def scatter(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1)
        v = self.value(x)
        i = self.r.permutation(v.shape[0])[:self.int(1, v.shape[0])].reshape(-1, 1).astype(np.int32)
        u = self.fresh(self.data((len(i),) + v.shape[1:], v.dtype.type))
        if self.chance(0.3):
            return self.same("ScatterNd", [self.fresh(i), u, self.int32(v.shape)])
        self.same("TensorScatter" + self.pick(["Update", "Add", "Sub"]), [x, self.fresh(i), u])

    def segments(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1)
        v = self.value(x)
        n = self.int(1, 5)
        ids = self.r.integers(0, n, v.shape[0]).astype(np.int32)
        if self.chance(0.3):
            return self.node("SegmentSum", [x, self.const(np.sort(ids))])
        self.node("UnsortedSegment" + self.pick(["Sum", "Prod", "Max", "Min"]), [x, self.const(ids), self.int32(n)])

    def blocks(self):
        x = self.any(self.pick([np.float32, np.float32, np.int32]), rank=4)
        n, h, w, c = self.value(x).shape
        kind = self.int(0, 4)
        if kind == 0:
            return self.same("DepthToSpace", [x], block_size=2)
        if kind == 1:
            return self.same("SpaceToDepth", [x], block_size=2)
        if kind == 2:
            size = [self.int(1, 3), self.int(1, 3)]
            pads = [[self.int(0, 2), 0] for _ in size]
            for p, d, b in zip(pads, (h, w), size):
                p[1] = -(d + p[0]) % b
            return self.same("SpaceToBatchND", [x, self.int32(size), self.int32(pads)])
        if kind == 3:
            size = self.pick([[1, 2], [2, 1], [2, 2]])
            return self.same("BatchToSpaceND", [x, self.int32(size), self.int32([[0, self.int(0, 1)] for _ in size])])
        return self.same("ExtractImagePatches", [x], ksizes=[1, self.int(1, min(h, 3)), self.int(1, min(w, 3)), 1],
                         strides=[1, self.int(1, 2), self.int(1, 2), 1], rates=[1, 1, 1, 1],
                         padding=self.pick(["SAME", "VALID"]))

    def shape_of(self):
        x = self.any(self.kind())
        op = self.pick(["Shape", "Size", "Rank"])
        made = self.node(op, [x], **({} if op == "Rank" else {"out_type": self.pick([tf.int32, tf.int64])}))
        if made and op == "Shape" and self.chance(0.5):
            self.same("Fill", [made[0], self.const(np.float32(1.5))])

    def one_hot(self):
        i = self.any(self.pick([np.int32, np.int64]))
        self.same("OneHot", [i, self.int32(self.int(2, 6)), self.const(np.float32(2)), self.const(np.float32(
            self.pick([0, -1])))], axis=self.pick([-1, 0]))

    # ---- sums

    def reduce(self):
        op = self.pick("Mean Sum Max Min Prod EuclideanNorm".split())
        x = self.any(self.pick([np.float32, np.float32, np.int32]), least=1)
        if op == "Prod" and self.value(x).dtype == np.int32:
            return
        self.node(op, [x, self.axes(x)], exact=op in ("Max", "Min"), keep_dims=self.chance(0.5))

    def arg(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1, exact=True)
        if self.chance(0.5):
            return self.node(self.pick(["ArgMax", "ArgMin"]), [x, self.int32(self.axis(x))],
                             output_type=self.pick([tf.int32, tf.int64]))
        self.node("TopKV2", [x, self.int32(self.int(1, self.value(x).shape[-1]))], 2)

    def cumulated(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1)
        op = "Cumsum" if self.value(x).dtype == np.int32 else self.pick(["Cumsum", "Cumprod"])
        self.node(op, [x, self.int32(self.axis(x))], exclusive=self.chance(0.5), reverse=self.chance(0.5))

    def matmul(self):
        x = self.any(least=2)
        s = self.value(x).shape
        n, ta, tb = self.int(1, 9), self.chance(0.3), self.chance(0.3)
        k = s[-2] if ta else s[-1]
        w = (n, k) if tb else (k, n)
        if len(s) == 2 and self.chance(0.7):
            made = self.node("MatMul", [x, self.operand(lambda v: v.shape == w, w)], transpose_a=ta, transpose_b=tb)
        else:
            shape = self.pick([w, s[:-2] + w, (1,) * (len(s) - 2) + w])
            op = "BatchMatMulV2" if shape[:-2] != s[:-2] else self.pick(["BatchMatMul", "BatchMatMulV2"])
            made = self.node(op, [x, self.operand(lambda v: v.shape == shape, shape)], adj_x=ta, adj_y=tb)
        if made and self.chance(0.5):
            self.node("BiasAdd", [made[0], self.const(self.data(self.value(made[0]).shape[-1:]))])

    def einsum(self):
        x = self.any(rank=3)
        b, i, k = self.value(x).shape
        j = self.int(1, 5)
        rule, shape = self.pick([("bik,bkj->bij", (b, k, j)), ("bik,bjk->bij", (b, j, k)), ("bik,kj->bij", (k, j)),
                                 ("bik,bik->b", (b, i, k)), ("bik->kib", None), ("bik,bkj->jb", (b, k, j)),
                                 ("...k,kj->...j", (k, j))])
        self.node("Einsum", [x] + ([self.fresh(self.data(shape))] if shape else []), equation=rule)

    def matrix(self):
        n = self.int(1, 5)
        x = self.fresh((np.eye(n) * 3 + self.data((2, n, n)) * 0.3).astype(np.float32))
        self.node(self.pick(["MatrixInverse", "MatrixDeterminant"]), [x])

    # ---- windows

    def conv(self):
        x = self.any(rank=4)
        c = self.value(x).shape[-1]
        how = {"strides": [1] + [self.pick([1, 1, 2, 3])] * 2 + [1],
               "padding": self.pick(["SAME", "VALID", "EXPLICIT"])}
        k = [self.int(1, min(4, d)) for d in self.value(x).shape[1:3]]
        if how["padding"] == "EXPLICIT":
            how["explicit_paddings"] = [0, 0] + [self.int(0, q - 1) for q in k for _ in "ab"] + [0, 0]
        if self.chance(0.3):
            how["dilations"] = [1, 2, 2, 1]
        if self.chance(0.4):
            how.pop("explicit_paddings", None)
            how["padding"] = self.pick(["SAME", "VALID"])
            w = self.data((*k, c, self.int(1, 3))) * np.float32(0.5)
            made = self.node("DepthwiseConv2dNative", [x, self.const(w)], **how)
        else:
            w = self.data((*k, c, self.pick([1, 2, 3, 4, 8, 16]))) * np.float32(0.5)
            how["strides"][2] = self.pick([1, 1, 2])
            made = self.node("Conv2D", [x, self.const(w) if self.chance(0.85) else self.input(w)], **how)
        self.after(made)

    def after(self, made):
        """The operators after a convolution."""
        c = self.value(made[0]).shape[-1:] if made else ()
        if made and self.chance(0.4):
            made = self.node("BiasAdd", [made[0], self.const(self.data(c))])
        if made and self.chance(0.3):
            made = self.batch_norm(made[0])
        if made and self.chance(0.5):
            self.node(self.pick(["Relu", "Relu6", "Sigmoid", "Tanh", "LeakyRelu", "Elu"]), [made[0]])

    def conv_more(self):
        kind = self.int(0, 1)
        x = self.any(rank=4 if kind else 5)
        s, c = self.value(x).shape, self.value(x).shape[-1]
        if not kind:
            k = [self.int(1, min(3, d)) for d in s[1:4]]
            w = self.const(self.data((*k, c, self.int(1, 4))) * np.float32(0.5))
            return self.node("Conv3D", [x, w], strides=[1, self.int(1, 2), self.int(1, 2), self.int(1, 2), 1],
                             padding=self.pick(["SAME", "VALID"]))
        t, out, k = self.int(1, 3), self.int(1, 4), self.int(1, 4)
        pad = self.pick(["SAME", "VALID"])
        size = [d * t if pad == "SAME" else (d - 1) * t + k + self.int(0, t - 1) for d in s[1:3]]
        w = self.const(self.data((k, k, out, c)) * np.float32(0.5))
        return self.after(self.node("Conv2DBackpropInput", [self.int32([s[0], *size, out]), w, x],
                                    strides=[1, t, t, 1], padding=pad))

    def batch_norm(self, x=None):
        x = x or self.any(rank=4)
        c = self.value(x).shape[-1:]
        vectors = [self.const(self.data(c)) for _ in range(3)] + [self.const(np.abs(self.data(c)) + np.float32(0.5))]
        return self.node(self.pick(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]), [x] + vectors,
                         [True], epsilon=float(np.float32(self.pick([1e-3, 1e-2]))), is_training=False)

    def pool(self):
        op = self.pick(["MaxPool", "MaxPoolV2", "AvgPool", "AvgPool", "MaxPool3D", "AvgPool3D"])
        x = self.any(rank=5 if "3D" in op else 4)
        s = self.value(x).shape
        k, t = ([1] + [self.int(1, min(3, d)) for d in s[1:-1]] + [1], [1] + [self.int(1, 2) for _ in s[1:-1]] + [1])
        pad = self.pick(["SAME", "VALID"])
        if op == "MaxPoolV2":
            return self.node(op, [x, self.int32(k), self.int32(t)], padding=pad)
        self.node(op, [x], ksize=k, strides=t, padding=pad)

    def norm(self):
        op = self.pick(["Softmax", "Softmax", "LogSoftmax", "LRN"])
        x = self.any(least=1, rank=4 if op == "LRN" else None)
        self.node(op, [x], **({"depth_radius": self.int(1, 3), "alpha": 0.25, "bias": 1.0} if op == "LRN" else {}))

    def resize(self):
        x = self.any(rank=4)
        op = self.pick(["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"])
        how = {} if op == "ResizeArea" else self.pick([{}, {"align_corners": True}, {"half_pixel_centers": True}])
        if op == "ResizeArea" and self.chance(0.5):
            how = {"align_corners": True}
        self.node(op, [x, self.int32([self.int(1, 9), self.int(1, 9)])], exact=op == "ResizeNearestNeighbor", **how)

    def graph(self, size):
        often = [self.unary, self.unary, self.binary, self.binary, self.conv, self.conv, self.reshape, self.transpose,
                 self.slice, self.concat, self.matmul] * 2
        families = often + [self.integer, self.compare, self.logic, self.where, self.cast, self.clip, self.fake_quant,
                            self.split, self.pad, self.repeat, self.moved, self.gather, self.scatter, self.segments,
                            self.blocks, self.shape_of, self.one_hot, self.reduce, self.reduce, self.arg,
                            self.cumulated, self.einsum, self.matrix, self.conv_more, self.batch_norm, self.pool,
                            self.pool, self.norm, self.norm, self.resize, self.resize]
        if self.chance(0.5):  # fewer kinds: longer chains of the same
            families = [self.pick(families) for _ in range(self.int(3, 8))]
        self.input(self.data(self.shape(self.pick([3, 4, 4]))))
        self.grow(families, size)
        self.choose_outputs()
        return self.g.swept()


def make(seed, size):
    return TfMaker(seed).graph(size)
