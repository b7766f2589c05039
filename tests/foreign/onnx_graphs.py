"""Random ONNX graphs, and ONNX Runtime with its optimisations off.

A node is made on operands that are there, and ONNX Runtime computes it at once: so shapes and values are known, nodes
that it refuses or that give no finite numbers are left out, and a chain never grows beyond bounds. An operator that
jumps (Floor, comparisons, ArgMax) is given only operands that every order of operations leaves equal.
"""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

import onnx_composed
from graph import NodeMaker
from onnx_microsoft import Microsoft

OPSET = 18
EPSILON = 0.0625  # of norms: where all are equal, the last bits would be what counts
SUFFIX = ".onnx"

EXACT = "Relu Abs Neg Identity Sign Ceil Floor Round IsNaN ThresholdedRelu".split()
SMOOTH = ("LeakyRelu Elu Selu Sigmoid HardSigmoid HardSwish Softplus Softsign Tanh Erf Exp Log Sqrt Reciprocal Sin Cos "
          "Atan Celu Mish").split()
JUMPS = {"Sign", "Ceil", "Floor", "Round", "ThresholdedRelu", "Equal", "Less", "LessOrEqual", "Greater",
         "GreaterOrEqual", "ArgMax", "ArgMin", "TopK", "Hardmax", "Cast", "QuantizeLinear", "IsNaN",
         "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}


def same_in_f32(how, was, size):
    """True if no element is in the middle of two, where ONNX Runtime's f32 may round to the other one."""
    half = 0 if how == "asymmetric" else 0.5
    for n, m in zip(was, size):
        turns = 2 * ((np.arange(m) + half) * n / m - half)
        exact = float(np.float32(m / n)) * n == m
        if how != "align_corners" and not exact and np.any(abs(turns - np.round(turns)) < 1e-5):
            return False
    return True


def protos(g, theirs):
    """Nodes, and constants that they need; `theirs`: for ONNX Runtime, which lacks some kernels."""
    made, more = [], []
    for i, n in enumerate(g.nodes):
        parts = onnx_composed.nodes(n, g.values) if theirs else None
        if parts:
            made, more = made + parts[0], more + parts[1]
        else:
            made.append(helper.make_node(n.op, n.ins, n.outs, domain=n.domain, name="n%d" % i, **n.attrs))
    return made, more


def proto(g, outputs, theirs):
    def info(name):
        v = g.values[name]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)

    made, more = protos(g, theirs)
    graph = helper.make_graph(made, "g", [info(k) for k in g.feeds], outputs or [info(k) for k in g.outputs],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in g.consts.items()] + more)
    sets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9).SerializeToString()


def model(g):
    return proto(g, None, False)


def session(bytes_):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    o.log_severity_level = 4
    return ort.InferenceSession(bytes_, o, providers=["CPUExecutionProvider"])


def run(g, feeds=None):
    """The outputs, by ONNX Runtime."""
    s = session(proto(g, None, True))
    used = {i.name for i in s.get_inputs()}
    return s.run(None, {k: v for k, v in (feeds or g.feeds).items() if k in used})


class OnnxMaker(Microsoft, NodeMaker):
    EXACT, JUMPS = EXACT, JUMPS

    def probe(self, one):
        """A node by itself; its results' types are not known yet."""
        outputs = [helper.make_empty_tensor_value_info(k) for k in one.outputs]
        return session(proto(one, outputs, True)).run(None, one.feeds)

    # ---- families: each tries to add a node

    def unary(self):
        op = self.pick(EXACT + SMOOTH + SMOOTH)
        x = self.any(exact=op in JUMPS)
        if op in ("Log", "Sqrt", "Reciprocal"):
            made = self.node("Abs", [x])
            made = made and self.node("Add", [made[0], self.const(np.float32(0.5))])
            if not made:
                return
            x = made[0]
        attrs = {}
        if op in ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu") and self.chance(0.7):
            attrs["alpha"] = float(np.float32(self.r.uniform(0.1, 1.5)))
        if op == "IsNaN":
            return self.node(op, [x])
        self.node(op, [x], **attrs)

    def clip(self):
        lo = np.float32(self.r.uniform(-2, 0.5)) if self.chance(0.8) else None
        hi = np.float32(self.r.uniform(0.6, 3)) if self.chance(0.8) else None
        ins = [self.any(), "" if lo is None else self.const(lo), "" if hi is None else self.const(hi)]
        while not ins[-1]:
            ins.pop()
        self.node("Clip", ins, exact=True)

    def binary(self):
        op = self.pick(["Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "PRelu", "Mean", "Sum"])
        x = self.any()
        if op == "PRelu":
            s = self.value(x).shape
            return self.node(op, [x, self.const(self.data(s[1:2] + (1,) * (len(s) - 2) if len(s) > 1 else s))])
        y = x if self.chance(0.1) else self.beside(x)
        if op == "Div":
            made = self.node("Abs", [y])
            made = made and self.node("Add", [made[0], self.const(np.float32(0.75))])
            if not made:
                return
            y = made[0]
        ins = [x, y] if self.chance(0.5) else [y, x]
        if op in ("Max", "Min", "Mean", "Sum") and self.chance(0.3):
            ins.append(self.beside(x))
        if op == "Div":
            ins = [x, y]
        self.node(op, ins, exact=op in ("Max", "Min"))

    def integer(self):
        dtype = self.pick([np.int32, np.int64, np.int32])
        x = self.any(dtype)
        op = self.pick(["Add", "Sub", "Mul", "Max", "Min", "Neg", "Abs", "Sign", "Mod", "Div", "Pow"])
        if op in ("Neg", "Abs", "Sign"):
            return self.node(op, [x])
        y = self.beside(x)
        if op in ("Mod", "Div"):
            y = self.const(np.asarray(self.pick([1, 2, 3, -2, 7]), dtype))
            return self.node(op, [x, y], **({"fmod": 1} if op == "Mod" and self.chance(0.3) else {}))
        if op == "Pow":
            y = self.const(np.asarray(self.pick([0, 1, 2]), dtype))
        made = self.node(op, [x, y])
        if made and np.abs(self.value(made[0]).astype(np.float64)).max(initial=0) > 1e6:
            self.node("Mod", [made[0], self.const(np.asarray(97, dtype))])

    def compare(self):
        dtype = self.pick([np.float32, np.int32, np.int64])
        x = self.any(dtype, exact=True)
        self.node(self.pick(["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]), [x, self.beside(x)])

    def logic(self):
        op = self.pick(["And", "Or", "Xor", "Not"])
        x = self.any(np.bool_)
        self.node(op, [x] if op == "Not" else [x, self.beside(x)])

    def where(self):
        x = self.any(self.pick([np.float32, np.float32, np.int32]))
        self.node("Where", [self.beside(x, np.dtype(np.bool_)), x, self.beside(x)], exact=True)

    def cast(self):
        have = self.pick([np.float32, np.int32, np.int64, np.bool_])
        want = self.pick([np.float32, np.int32, np.int64, np.bool_, np.float32])
        self.node("Cast", [self.any(have, exact=True)], to=int(helper.np_dtype_to_tensor_dtype(np.dtype(want))))

    def reshape(self):
        x = self.any(self.kind())
        v = self.value(x)
        kind = self.int(0, 4)
        if kind == 0:
            return self.node("Flatten", [x], exact=True, axis=self.int(-v.ndim, v.ndim))
        if kind == 1:
            ones = [i for i, d in enumerate(v.shape) if d == 1 and self.chance(0.7)]
            return ones and self.node("Squeeze", [x, self.const(np.array(ones, np.int64))], exact=True)
        if kind == 2:
            at = sorted(self.r.choice(v.ndim + 2, self.int(1, 2), replace=False)) if v.ndim < 4 else [self.int(0, 4)]
            return self.node("Unsqueeze", [x, self.const(np.array(at, np.int64))], exact=True)
        shape = self.factors(v.size, 4)
        if self.chance(0.3) and v.size:
            shape[self.int(0, len(shape) - 1)] = -1
        self.node("Reshape", [x, self.const(np.array(shape, np.int64))], exact=True)

    def transpose(self):
        x = self.any(self.kind(), least=2)
        self.node("Transpose", [x], exact=True, perm=[int(p) for p in self.r.permutation(self.value(x).ndim)])

    def slice(self):
        x = self.any(self.kind(), least=1)
        s = self.value(x).shape
        axes = sorted(int(a) for a in self.r.choice(len(s), self.int(1, len(s)), replace=False))
        start, stop, step = [], [], []
        for a in axes:
            k = self.pick([1, 1, 1, 2, 3, -1, -2])
            lo, hi = sorted(int(v) for v in self.r.integers(0, s[a] + 1, 2))
            if lo == hi:
                lo, hi = 0, s[a]
            if k < 0:
                start.append(hi - 1)
                stop.append(lo - 1 if lo else -s[a] - 5)
            else:
                start.append(lo if self.chance(0.7) else lo - s[a])
                stop.append(hi if self.chance(0.7) else 1 << 40 if hi == s[a] else hi - s[a])
            step.append(k)
        self.node("Slice", [x] + [self.const(np.array(v, np.int64)) for v in (start, stop, axes, step)], exact=True)

    def concat(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        at = a % v.ndim

        shape = tuple(self.int(1, 4) if i == at else d for i, d in enumerate(v.shape))
        ins = [x] + [self.operand(self.joins(v, at), shape, v.dtype.type) for _ in range(self.int(1, 3))]
        if self.chance(0.1):
            ins.append(x)
        self.r.shuffle(ins)
        self.node("Concat", [str(k) for k in ins], exact=True, axis=a)

    def split(self):
        x = self.any(self.kind(), least=1)
        a = self.axis(x)
        n = self.value(x).shape[a]
        if n < 2:
            return
        cuts = sorted(int(c) for c in self.r.choice(n - 1, min(self.int(1, 3), n - 1), replace=False) + 1)
        sizes = [q - p for p, q in zip([0] + cuts, cuts + [n])]
        self.node("Split", [x, self.const(np.array(sizes, np.int64))], len(sizes), exact=True, axis=a)

    def pad(self):
        x = self.any(self.kind(), least=1)
        v = self.value(x)
        mode = self.pick(["constant", "constant", "reflect", "edge"])
        most = [2 if mode == "constant" else max(0, min(2, d - 1)) for d in v.shape]
        pads = [self.int(0, m) if self.chance(0.6) else 0 for m in most + most]
        if mode == "constant" and self.chance(0.3):
            pads = [-self.int(0, 1) if d > 2 and self.chance(0.3) else p for p, d in zip(pads, v.shape + v.shape)]
        ins = [x, self.const(np.array(pads, np.int64))]
        if mode == "constant" and self.chance(0.5):
            ins.append(self.const(self.data((), v.dtype.type)))
        self.node("Pad", ins, exact=True, mode=mode)

    def repeat(self):
        x = self.any(self.kind(), least=1)
        v = self.value(x)
        if self.chance(0.5):
            return self.node("Tile", [x, self.const(np.array([self.pick([1, 1, 2, 3]) for _ in v.shape], np.int64))],
                             exact=True)
        shape = [d if d > 1 else self.pick([1, 2, 4]) for d in v.shape]
        if self.chance(0.4):
            shape = [self.int(1, 3)] + shape
        self.node("Expand", [x, self.const(np.array(shape, np.int64))], exact=True)

    def gather(self):
        x = self.any(self.kind(), least=1)
        v, a = self.value(x), self.axis(x)
        n = v.shape[a]
        kind = self.int(0, 2)
        if not v.size:
            return
        if kind == 0:
            i = self.fresh(self.r.integers(-n, n, self.shape(self.int(0, 2))).astype(np.int64))
            return self.node("Gather", [x, i], exact=True, axis=a)
        if kind == 1:
            shape = [self.int(1, d) for d in v.shape]
            shape[a] = self.int(1, 5)
            return self.node("GatherElements", [x, self.fresh(self.r.integers(-n, n, shape).astype(np.int64))],
                             exact=True, axis=a)
        k = self.int(1, v.ndim)
        i = np.stack([self.r.integers(0, d, 4) for d in v.shape[:k]], -1)
        self.node("GatherND", [x, self.fresh(i.astype(np.int64))], exact=True)

    def scatter(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1)
        v, a = self.value(x), self.axis(x)
        if not v.size:
            return
        if self.chance(0.5):
            at = a % v.ndim
            shape = [self.int(1, d) for d in v.shape]
            i = np.stack([self.r.permutation(v.shape[at])[:shape[at]] for _ in range(int(np.prod(shape)) // shape[at])])
            i = np.moveaxis(i.reshape([d for k, d in enumerate(shape) if k != at] + [shape[at]]), -1, at)
            return self.node("ScatterElements", [x, self.fresh(i.astype(np.int64)), self.fresh(
                self.data(shape, v.dtype.type))], exact=True, axis=a)
        i = self.r.permutation(v.shape[0])[:self.int(1, v.shape[0])].reshape(-1, 1).astype(np.int64)
        u = self.fresh(self.data((len(i),) + v.shape[1:], v.dtype.type))
        self.node("ScatterND", [x, self.fresh(i), u], exact=True)

    def blocks(self):
        x = self.any(rank=4)
        n, c, h, w = self.value(x).shape
        if c % 4 == 0 and self.chance(0.6):
            return self.node("DepthToSpace", [x], exact=True, blocksize=2, mode=self.pick(["DCR", "CRD"]))
        if h % 2 == 0 and w % 2 == 0:
            self.node("SpaceToDepth", [x], exact=True, blocksize=2)

    def resize(self):
        x = self.any(rank=4)
        s = self.value(x).shape
        mode = self.pick(["nearest", "linear", "cubic"])
        how = self.pick(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
        attrs = {"mode": mode, "coordinate_transformation_mode": how}
        if mode == "nearest":
            attrs["nearest_mode"] = self.pick(["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
        size = list(s[:2]) + [self.int(1, 9), self.int(1, 9)]
        if how != "align_corners" and self.chance(0.5):  # ONNX Runtime rounds the size there, ONNX does not
            by = self.pick([[1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 0.5, 2], [1, 1, 1.5, 1]])
            return self.node("Resize", [x, "", self.const(np.array(by, np.float32))], exact=mode == "nearest", **attrs)
        if mode != "nearest" or same_in_f32(how, s[2:], size[2:]):
            self.node("Resize", [x, "", "", self.const(np.array(size, np.int64))], exact=mode == "nearest", **attrs)

    def moved(self):
        x = self.any(self.kind(), least=2)
        v = self.value(x)
        if self.chance(0.4) and v.dtype != bool:
            ins = [x] + ([self.const(np.array(self.int(-2, 2), np.int64))] if self.chance(0.6) else [])
            return self.node("Trilu", ins, exact=True, upper=self.int(0, 1))
        t = self.int(0, 1)
        n = self.r.integers(1, v.shape[t] + 1, v.shape[1 - t]).astype(np.int64) if v.size else None
        if n is not None:
            self.node("ReverseSequence", [x, self.fresh(n)], exact=True, time_axis=t, batch_axis=1 - t)

    def reduce(self):
        op = self.pick(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"])
        x = self.any(self.pick([np.float32, np.float32, np.int32]), least=1)
        v = self.value(x)
        if op == "Prod" and v.dtype == np.int32:
            return  # overflow saturates in ONNX Runtime
        if op == "LogSum":
            made = self.node("Abs", [x])
            made = made and v.dtype == np.float32 and self.node("Add", [made[0], self.const(np.float32(1))])
            if not made:
                return
            x = made[0]
        axes = sorted(int(a) for a in self.r.choice(v.ndim, self.int(1, v.ndim), replace=False))
        axes = [a - v.ndim if self.chance(0.3) else a for a in axes]
        keep = self.int(0, 1)
        exact = op in ("Max", "Min")
        ins = [x, self.const(np.array(axes, np.int64))]
        self.node("Reduce" + op, ins if self.chance(0.85) else ins[:1], exact=exact, keepdims=keep)

    def arg(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1, exact=True)
        if self.chance(0.5):
            return self.node(self.pick(["ArgMax", "ArgMin"]), [x], axis=self.axis(x), keepdims=self.int(0, 1),
                             **({"select_last_index": 1} if self.chance(0.3) else {}))
        a = self.axis(x)
        v = self.value(x)
        if len(np.unique(v)) < v.size:
            return  # among equal ones ONNX Runtime's order is its own
        self.node("TopK", [x, self.const(np.array([self.int(1, v.shape[a])], np.int64))], 2, axis=a,
                  largest=self.int(0, 1))

    def cumsum(self):
        x = self.any(self.pick([np.float32, np.int32]), least=1)
        self.node("CumSum", [x, self.const(np.array(self.axis(x), np.int64))], exclusive=self.int(0, 1),
                  reverse=self.int(0, 1))

    def one_hot(self):
        i = self.any(np.int64)
        self.node("OneHot", [i, self.const(np.array(self.int(2, 6), np.int64)),
                             self.const(np.array([self.pick([0, -1]), 2], np.float32))], axis=self.pick([-1, 0]),
                  exact=True)

    def shape_of(self):
        x = self.any(self.kind())
        if self.chance(0.4):
            return self.node("Size", [x])
        made = self.node("Shape", [x])
        if made and self.value(made[0]).size and self.chance(0.5):
            self.node("ConstantOfShape", [made[0]], value=numpy_helper.from_array(np.array([1.5], np.float32)),
                      exact=True)

    def matmul(self):
        x = self.any(least=1)
        s = self.value(x).shape
        n = self.int(1, 9)
        kind = self.int(0, 3)
        if kind == 0 and len(s) == 2:
            ta, tb = self.int(0, 1), self.int(0, 1)
            k = s[0] if ta else s[1]
            w = self.fresh(self.data((n, k) if tb else (k, n)))
            ins = [x, w]
            if self.chance(0.7):
                m = s[1] if ta else s[0]
                ins.append(self.fresh(self.data(self.pick([(n,), (1, n), (m, 1), (m, n), ()]))))
            return self.node("Gemm", ins, transA=ta, transB=tb, alpha=float(np.float32(self.pick([1, 1, 0.5]))),
                             beta=float(np.float32(self.pick([1, 1, 0.25]))))
        w = (s[-1], n)
        shape = self.pick([(s[-1],), w, w, s[:-2] + w, (1,) * max(len(s) - 2, 0) + w])

        def fits(v):
            return v.ndim > 1 and v.shape[-2] == s[-1] and v.shape[:-2] in (s[:-2], ())

        y = self.operand(fits, shape)
        made = self.node("MatMul", [x, y])
        if made and self.chance(0.4):
            self.node("Add", [made[0], self.const(self.data((self.value(made[0]).shape or (1,))[-1:]))])

    def einsum(self):
        x = self.any(rank=3)
        b, i, k = self.value(x).shape
        j = self.int(1, 5)
        rule, shape = self.pick([("bik,bkj->bij", (b, k, j)), ("bik,bjk->bij", (b, j, k)), ("bik,kj->bij", (k, j)),
                                 ("bik,bik->b", (b, i, k)), ("bik->kib", None), ("bik,bkj->jb", (b, k, j))])
        self.node("Einsum", [x] + ([self.fresh(self.data(shape))] if shape else []), equation=rule)

    def window(self, s):
        """Kernel and attributes of something that slides over the dimensions s."""
        k = [self.int(1, min(4, d)) for d in s]
        attrs = {"strides": [self.pick([1, 1, 2, 3]) for _ in s]}
        if self.chance(0.25):
            attrs["auto_pad"] = self.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        elif self.chance(0.6):
            attrs["pads"] = [self.int(0, q - 1) for q in k + k]
        return k, attrs

    def conv(self):
        x = self.any(rank=self.pick([4, 4, 4, 3, 5]))
        s = self.value(x).shape
        c = s[1]
        k, attrs = self.window(s[2:])
        if self.chance(0.3):
            attrs["dilations"] = [2 if (q - 1) * 2 < d and q > 1 else 1 for q, d in zip(k, s[2:])]
            if "pads" not in attrs:
                attrs.pop("auto_pad", None)
        group = self.pick([g for g in range(1, c + 1) if c % g == 0]) if self.chance(0.4) else 1
        out = group * self.pick([1, 1, 2, 3])
        if self.chance(0.25):
            for v in ("dilations", "auto_pad"):
                attrs.pop(v, None)
            if self.chance(0.4):
                attrs["output_padding"] = [self.int(0, t - 1) for t in attrs["strides"]]
            w = self.data((c, out // group) + tuple(k)) * np.float32(0.5)
            ins = [x, self.fresh(w)] + ([self.fresh(self.data((out,)))] if self.chance(0.6) else [])
            return self.node("ConvTranspose", ins, group=group, **attrs)
        out = out if group > 1 else self.pick([1, 2, 3, 4, 8, 16])
        w = self.data((out, c // group) + tuple(k)) * np.float32(0.5)
        ins = [x, self.const(w) if self.chance(0.85) else self.input(w)]
        if self.chance(0.6):
            ins.append(self.const(self.data((out,))))
        made = self.node("Conv", ins, group=group, **attrs)
        if made and self.chance(0.3):
            made = self.batch_norm(made[0]) or made
        if made and self.chance(0.4):
            self.node(self.pick(["Relu", "Sigmoid", "LeakyRelu", "Tanh", "HardSwish"]), [made[0]])

    def batch_norm(self, x=None):
        x = x or self.any(least=2)
        c = self.value(x).shape[1]
        return self.node("BatchNormalization", [x] + [self.const(self.data((c,))) for _ in range(3)] +
                         [self.const(np.abs(self.data((c,))) + np.float32(0.5))])

    def pool(self):
        x = self.any(rank=self.pick([4, 4, 3, 5]))
        k, attrs = self.window(self.value(x).shape[2:])
        op = self.pick(["MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"])
        if op.startswith("Global"):
            return self.node(op, [x], exact=op == "GlobalMaxPool")
        if op != "LpPool" and "auto_pad" not in attrs and self.chance(0.3):
            attrs["ceil_mode"] = 1
        if op == "AveragePool":
            attrs["count_include_pad"] = self.int(0, 1)
        if op == "LpPool":
            attrs["p"] = self.pick([1, 2])
        self.node(op, [x], exact=op == "MaxPool", kernel_shape=k, **attrs)

    def norm(self):
        x = self.any(least=2)
        s = self.value(x).shape
        op = self.pick(["BatchNormalization", "InstanceNormalization", "LayerNormalization", "LpNormalization", "LRN",
                        "Softmax", "Softmax", "LogSoftmax", "Hardmax", "MeanVarianceNormalization"])
        if op == "BatchNormalization":
            self.batch_norm(x)
        elif op == "InstanceNormalization" and len(s) > 2:
            self.node(op, [x, self.const(self.data(s[1:2])), self.const(self.data(s[1:2]))], epsilon=EPSILON)
        elif op == "LayerNormalization":
            a = self.axis(x)
            ins = [x, self.const(self.data(s[a:]))] + ([self.const(self.data(s[a:]))] if self.chance(0.6) else [])
            self.node(op, ins, axis=a, epsilon=EPSILON)
        elif op == "LpNormalization":
            self.node(op, [x], axis=self.axis(x), p=self.pick([1, 2]))
        elif op == "LRN" and len(s) == 4:
            self.node(op, [x], size=self.pick([1, 3, 5]), alpha=float(np.float32(0.01)))
        elif op in ("Softmax", "LogSoftmax", "Hardmax"):
            self.node(op, [x], axis=self.axis(x))
        elif op == "MeanVarianceNormalization" and len(s) == 4 and self.value(x).var(axis=(0, 2, 3)).min() > 0.05:
            self.node(op, [x], axes=[0, 2, 3])

    def recurrent(self):
        x = self.any(rank=3)
        t, b, n = self.value(x).shape
        h, op = self.int(1, 4), self.pick(["LSTM", "GRU", "RNN"])
        way = self.pick(["forward", "reverse", "bidirectional"])
        d, g = 1 + (way == "bidirectional"), {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
        ins = [x, self.const(self.data((d, g * h, n)) * np.float32(0.4)), self.const(self.data((d, g * h, h)) *
                                                                                    np.float32(0.4))]
        ins.append(self.const(self.data((d, 2 * g * h))) if self.chance(0.6) else "")
        ins.append("")
        if self.chance(0.4):
            ins.append(self.fresh(self.data((d, b, h))))
        while not ins[-1]:
            ins.pop()
        attrs = {"linear_before_reset": self.int(0, 1)} if op == "GRU" else {}
        self.node(op, ins, 3 if op == "LSTM" else 2, hidden_size=h, direction=way, **attrs)

    def quantised(self):
        """There and back: the same grid for both, so that what follows sees equal numbers."""
        x = self.any(exact=True)
        dtype = self.pick([np.int8, np.uint8])
        scale = self.const(np.float32(2.0 ** self.int(-6, -3)))
        zero = self.const(np.asarray(self.int(0, 20), dtype))
        made = self.node("QuantizeLinear", [x, scale, zero])
        if made:
            self.node("DequantizeLinear", [made[0], scale, zero], exact=True)

    def graph(self, size):
        often = [self.unary] * 3 + [self.binary] * 4 + [self.conv] * 3 + [self.reshape, self.transpose, self.slice,
                                                                          self.concat, self.matmul] * 2
        families = often + [self.split, self.pool, self.pool, self.norm, self.norm, self.reduce, self.pad, self.repeat,
                            self.gather, self.scatter, self.blocks, self.resize, self.moved, self.arg, self.cumsum,
                            self.one_hot, self.shape_of, self.einsum, self.recurrent, self.quantised, self.integer,
                            self.compare, self.logic, self.where, self.cast, self.clip]
        families += [getattr(self, k) for k in self.MICROSOFT]
        if self.chance(0.5):  # fewer kinds: longer chains of the same
            families = [self.pick(families) for _ in range(self.int(3, 8))]
        self.input(self.data(self.shape(self.pick([3, 4, 4]))))
        self.grow(families, size)
        self.choose_outputs()
        return self.g.swept()


def make(seed, size):
    return OnnxMaker(seed).graph(size)
