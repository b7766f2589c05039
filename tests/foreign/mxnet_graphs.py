"""Random MXNet symbols, and MXNet 1.9.

As in onnx_graphs.py a node is added to existing operands and computed at once; nodes that MXNet refuses are skipped.
Weights are always constants, which go into a file of parameters. Needs NumPy below 1.24."""
import contextlib
import json
import os
import pickle
import sys

import numpy as np

sys.stderr = os.fdopen(os.dup(2), "w")  # MXNet itself writes a line to file 2 for every symbol that it binds
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"  # fusions that forget activations
os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"  # no threads, so that fork() is safe
import mxnet as mx  # noqa: E402

from graph import NodeMaker  # noqa: E402

SUFFIX = "-symbol.json"
EXACT = ("abs relu identity negative BlockGrad stop_gradient MakeLoss Dropout zeros_like ones_like _copy "
         "make_loss").split()
ROUND = "sign ceil floor rint trunc fix round".split()
SMOOTH = ("square exp sin cos tanh sigmoid erf arctan expm1 softsign sinh cosh cbrt radians degrees smooth_l1 "
          "hard_sigmoid _contrib_div_sqrt_dim LinearRegressionOutput LogisticRegressionOutput "
          "MAERegressionOutput").split()
POSITIVE = "sqrt rsqrt log log2 log10 log1p reciprocal rcbrt".split()
COMPARE = "equal not_equal greater greater_equal lesser lesser_equal".split()
JUMPS = {*ROUND, "argmax", "argmin", "argmax_channel", "topk", "sort", "argsort", "Cast", "pick", "logical_not",
         "one_hot", "_mod", "broadcast_mod", "_mod_scalar", "_rmod_scalar", "_contrib_box_nms",
         "_contrib_MultiBoxDetection",
         *("_" + k for k in COMPARE), *("broadcast_" + k for k in COMPARE), *("_%s_scalar" % k for k in COMPARE)}


def symbol(g):
    """The file's text."""
    nodes, at = [], {}
    for k, v in {**g.feeds, **g.consts}.items():
        at[k] = [len(nodes), 0, 0]
        attrs = {"__shape__": str(v.shape), "__dtype__": str(mx_type(v.dtype))}
        nodes.append({"op": "null", "name": k, "inputs": [], "attrs": attrs})
    args = list(range(len(nodes)))
    for n in g.nodes:
        for i, k in enumerate(n.outs):
            at[k] = [len(nodes), i, 0]
        nodes.append({"op": n.op, "name": n.outs[0], "inputs": [at[k] for k in n.ins],
                      "attrs": {k: str(v) for k, v in n.attrs.items()}})
    return json.dumps({"nodes": nodes, "arg_nodes": args, "heads": [at[k] for k in g.outputs],
                       "attrs": {"mxnet_version": ["int", 10901]}})


def mx_type(dtype):
    return [np.float32, np.float64, np.float16, np.uint8, np.int32, np.int8, np.int64].index(dtype.type)


def model(g):
    return symbol(g).encode()


def array(v):
    return mx.nd.array(v, dtype=v.dtype)


def loaded(g):
    """MXNet's symbol, and which of its arrays are auxiliary."""
    s = mx.sym.load_json(symbol(g))
    return s, set(s.list_auxiliary_states())


def more(g, path):
    """The command line after the model: the parameters."""
    aux = loaded(g)[1]
    params = str(path)[:-len(SUFFIX)] + "-0000.params"
    mx.nd.save(params, {("aux:" if k in aux else "arg:") + k: array(v) for k, v in g.consts.items()})
    return [params]


def run(g, feeds=None):
    """The outputs, by MXNet in a process of its own, since it crashes now and then."""
    end, begin = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(Exception), os.fdopen(begin, "wb") as f:
            f.write(pickle.dumps(run_here(g, feeds)))
        os._exit(0)
    os.close(begin)
    with os.fdopen(end, "rb") as f:
        got = f.read()
    os.waitpid(child, 0)
    if not got:
        raise RuntimeError("MXNet gives no results")
    return pickle.loads(got)


def run_here(g, feeds=None):
    s, aux = loaded(g)
    arrays = {k: array(v) for k, v in {**(feeds or g.feeds), **g.consts}.items()}
    e = s.bind(mx.cpu(), {k: v for k, v in arrays.items() if k not in aux}, grad_req="null",
               aux_states={k: v for k, v in arrays.items() if k in aux})
    return [v.asnumpy() for v in e.forward(is_train=False)]


class MxnetMaker(NodeMaker):
    EXACT, JUMPS = {*EXACT, *ROUND, "_maximum", "_minimum", "broadcast_maximum", "broadcast_minimum"}, JUMPS

    def shape(self, rank=None):
        return super().shape(self.pick([1, 2, 3, 3, 4, 4, 4, 5]) if rank is None else max(rank, 1))

    def kind(self):
        return self.pick([np.float32] * 5 + [np.int32, np.int64])

    def probe(self, one):
        return run_here(one)

    def identity(self, x):
        return self.node("identity", [x], exact=True)

    def same(self, op, ins, n_outs=1, **attrs):
        """A node that moves numbers and changes none."""
        return self.node(op, ins, n_outs, exact=True, **attrs)

    def weight(self, shape, by=0.5):
        return self.const(self.data(shape) * np.float32(by))

    def beyond(self, x, least):
        """abs(x) + least"""
        made = self.node("abs", [x])
        made = made and self.node("_plus_scalar", [made[0]], scalar=least)
        return made and made[0]

    def like(self, x):
        s, t = self.value(x).shape, self.value(x).dtype.type
        return self.operand(lambda v: v.shape == s, s, t)

    def around(self, x):
        """An operand of the same number of dimensions, some of them 1."""
        s, t = self.value(x).shape, self.value(x).dtype.type
        return self.operand(lambda v: v.ndim == len(s) and all(p in (q, 1) or q == 1 for p, q in zip(v.shape, s)),
                            tuple(d if self.chance(0.6) else 1 for d in s), t)

    # ---- element by element

    def unary(self):
        op = self.pick(EXACT + ROUND + SMOOTH * 2 + POSITIVE)
        x = self.any(exact=op in JUMPS)
        if op in POSITIVE:
            x = self.beyond(x, 0.5)
        attrs = {"smooth_l1": {"scalar": self.pick([1.0, 2.0])}, "hard_sigmoid": {"alpha": 0.3, "beta": 0.4}}
        self.node(op, [x], **attrs.get(op, {}))

    def activation(self):
        x = self.any(least=2)
        if self.chance(0.4):
            return self.node("Activation", [x], act_type=self.pick("relu sigmoid tanh softrelu softsign".split()))
        act = self.pick("leaky elu selu gelu prelu".split())
        ins = [x] + ([self.weight(self.value(x).shape[1:2])] if act == "prelu" else [])
        self.node("LeakyReLU", ins, act_type=act, **({"slope": 0.3} if self.chance(0.5) else {}))

    def binary(self):
        whole = self.chance(0.5)
        prefix = self.pick(["_", "elemwise_"]) if whole else "broadcast_"
        op = prefix + self.pick("add sub mul div".split() if prefix == "elemwise_" else
                                "add sub mul div maximum minimum power mod hypot".split())
        x = self.any(exact=op in JUMPS)
        y = self.like(x) if whole else self.around(x)
        if op.endswith(("div", "mod")):
            y = self.beyond(y, 0.75)
        if op.endswith("power"):
            x = self.beyond(x, 0.5)
        if x and y:
            self.node(op, [x, y])

    def integer(self):
        x = self.any(self.pick([np.int32, np.int64]))
        if self.chance(0.3):
            return self.node(self.pick("abs sign negative square ceil floor round relu".split()), [x])
        op = "broadcast_" + self.pick("add sub mul maximum minimum equal lesser greater_equal".split())
        self.node(op, [x, self.around(x)])

    def scalar(self):
        x = self.any(self.pick([np.float32] * 4 + [np.int32]), exact=True)
        op = self.pick("plus minus rminus mul div rdiv maximum minimum power rpower mod rmod".split() + COMPARE)
        whole = self.value(x).dtype == np.int32
        v = self.pick([1, 2, 3]) if whole else float(np.float32(self.r.uniform(0.3, 2)))
        if op in ("rdiv", "power", "rmod") and not whole:
            x = self.beyond(x, 0.5)
        if whole and op in ("div", "rdiv", "power", "rpower", "mod", "rmod"):
            return
        x and self.node("_%s_scalar" % op, [x], scalar=v)

    def compare(self):
        x = self.any(exact=True)
        whole = self.chance(0.5)
        op = ("_" if whole else "broadcast_") + self.pick(COMPARE)
        self.node(op, [x, self.like(x) if whole else self.around(x)])

    def several(self):
        x = self.any()
        ins = [x] + [self.like(x) for _ in range(self.int(0, 3))]
        if self.chance(0.4):
            return self.node(self.pick(["add_n", "ElementWiseSum"]), ins, num_args=len(ins))
        c = self.node("_greater_scalar", [self.any(exact=True)], scalar=0.1)
        if c and self.value(c[0]).shape in (self.value(x).shape, self.value(x).shape[:1]):
            self.same("where", [c[0], x, self.like(x)])

    def clip(self):
        self.node("clip", [self.any()], exact=True, a_min=float(np.float32(self.r.uniform(-2, 0))),
                  a_max=float(np.float32(self.r.uniform(0.2, 2))))

    def cast(self):
        self.node("Cast", [self.any(self.kind(), exact=True)], dtype=self.pick("float32 int32 int64 int8".split()))

    # ---- shapes

    def reshape(self):
        x = self.any(self.kind())
        v = self.value(x)
        kind = self.int(0, 4)
        if kind == 0:
            return self.same("Flatten", [x])
        if kind == 1:
            ones = [i for i, d in enumerate(v.shape) if d == 1 and self.chance(0.7)]
            return v.ndim > len(ones) and self.same("squeeze", [x], **({"axis": tuple(ones)} if ones else {}))
        if kind == 2:
            return self.same("expand_dims", [x], axis=self.int(-v.ndim - 1, v.ndim))
        if kind == 3 and v.ndim > 2:
            shape = self.pick([(0, -1), (-2,), (0, -3, -2), (-3, -2), (-4, 1, -1, -2), (0, 0, -1), (-1, 0),
                               (0, -4, -1, 1, -2)])
            return self.same("Reshape", [x], shape=shape, **({"reverse": True} if self.chance(0.3) else {}))
        shape = self.factors(v.size, 4)
        if self.chance(0.3):
            shape[self.int(0, len(shape) - 1)] = -1
        self.same("Reshape", [x], shape=tuple(shape))

    def transpose(self):
        x = self.any(self.kind())
        n = self.value(x).ndim
        if self.chance(0.4):
            return self.same(self.pick(["SwapAxis", "swapaxes"]), [x], dim1=self.int(0, n - 1), dim2=self.int(0, n - 1))
        axes = {"axes": tuple(int(p) for p in self.r.permutation(n))} if self.chance(0.8) else {}
        self.same("transpose", [x], **axes)

    def slice(self):
        x = self.any(self.kind())
        s = self.value(x).shape
        kind = self.int(0, 2)
        if kind == 0:
            a = self.axis(x)
            lo, hi = sorted(int(v) for v in self.r.integers(0, s[a] + 1, 2))
            lo, hi = (lo, hi) if lo < hi else (0, s[a])
            lo = lo - s[a] if self.chance(0.3) else lo
            return self.same("slice_axis", [x], axis=a, begin=lo, end="None" if hi == s[a] and self.chance(0.5) else hi)
        if kind == 1:
            shape = tuple(self.int(1, d) for d in s)
            y = self.operand(lambda v: v.ndim == len(s) and all(p <= q for p, q in zip(v.shape, s)), shape,
                             self.value(x).dtype.type)
            return self.same("slice_like", [x, y], **({"axes": (self.axis(x),)} if self.chance(0.4) else {}))
        begin, end, step = [], [], []
        for d in s[:self.int(1, len(s))]:
            k = self.pick([1, 1, 1, 2, 3, -1, -2])
            lo, hi = sorted(int(v) for v in self.r.integers(0, d + 1, 2))
            lo, hi = (lo, hi) if lo < hi else (0, d)
            if k < 0:
                lo, hi = hi - 1, lo - 1 if lo else None
            begin.append(None if lo == 0 and k > 0 and self.chance(0.3) else lo if self.chance(0.7) else lo - d)
            end.append(None if hi == d and k > 0 and self.chance(0.5) else hi)
            step.append(k)
        step = {"step": tuple(step)} if any(k != 1 for k in step) or self.chance(0.3) else {}
        self.same(self.pick(["slice", "crop"]), [x], begin=tuple(begin), end=tuple(end), **step)

    def concat(self):
        x = self.any(self.kind())
        v, a = self.value(x), self.axis(x)
        at = a % v.ndim

        if self.chance(0.3):
            ins = [x] + [self.like(x) for _ in range(self.int(0, 2))]
            return self.same("stack", ins, axis=a, num_args=len(ins))
        shape = tuple(self.int(1, 4) if i == at else d for i, d in enumerate(v.shape))
        ins = [x] + [self.operand(self.joins(v, at), shape, v.dtype.type) for _ in range(self.int(1, 3))]
        self.r.shuffle(ins)
        self.same(self.pick(["Concat", "concat"]), [str(k) for k in ins], dim=a, num_args=len(ins))

    def split(self):
        x = self.any(self.kind())
        v, a = self.value(x), self.axis(x)
        parts = self.pick([k for k in range(1, v.shape[a] + 1) if v.shape[a] % k == 0 and k <= 8])
        squeeze = parts == v.shape[a] and v.ndim > 1 and self.chance(0.5)
        self.same(self.pick(["SliceChannel", "split"]), [x], parts, num_outputs=parts, axis=a, squeeze_axis=squeeze)

    def pad(self):
        x = self.any(rank=self.pick([4, 4, 5]))
        mode = self.pick(["constant", "edge", "reflect"])
        wide = [(0, 0), (0, 0)] + [(self.int(0, min(2, d - 1)), self.int(0, min(2, d - 1))) for d in
                                   self.value(x).shape[2:]]
        more = {"constant_value": 0.5} if mode == "constant" and self.chance(0.5) else {}
        self.same(self.pick(["Pad", "pad"]), [x], mode=mode, pad_width=tuple(w for p in wide for w in p), **more)

    def repeat(self):
        x = self.any(self.kind())
        v = self.value(x)
        kind = self.int(0, 4)
        if kind == 0:
            return self.same("tile", [x], reps=tuple(self.pick([1, 1, 2, 3]) for _ in range(self.int(1, v.ndim + 1))))
        if kind == 1:
            axis = {"axis": self.axis(x)} if self.chance(0.7) else {}
            return self.same("repeat", [x], repeats=self.int(1, 3), **axis)
        if kind == 2:
            return self.same(self.pick(["reverse", "flip"]), [x], axis=(self.axis(x, False),))
        ones = [i for i, d in enumerate(v.shape) if d == 1]
        if kind == 3 and ones:
            a = self.pick(ones)
            return self.same(self.pick(["broadcast_axis", "broadcast_axes"]), [x], axis=(a,), size=(self.int(1, 4),))
        shape = tuple(d if d > 1 else self.pick([1, 2, 4]) for d in v.shape)
        if self.chance(0.5):
            y = self.operand(lambda w: w.shape == shape, shape, v.dtype.type)
            return self.same("broadcast_like", [x, y])
        shape = tuple(0 if d == e and self.chance(0.3) else e for d, e in zip(v.shape, shape))
        self.same("broadcast_to", [x], shape=shape)

    def gather(self):
        x = self.any()
        v, a = self.value(x), self.axis(x)
        kind = self.int(0, 4)
        if kind == 0:
            i = self.r.integers(-1, v.shape[a] + 1, self.shape(self.int(1, 2))).astype(np.float32)
            return self.same("take", [x, self.const(i)], axis=a, mode=self.pick(["clip", "wrap"]))
        if kind == 1:
            k = self.int(1, v.ndim)
            i = np.stack([self.r.integers(-d, d, 4) for d in v.shape[:k]])
            return self.same("gather_nd", [x, self.const(i.astype(np.float32))])
        if kind == 2:
            i = self.const(self.r.integers(0, 5, self.shape(self.int(1, 2))).astype(np.float32))
            return self.same("one_hot", [i], depth=5, on_value=2.0, off_value=-1.0)
        if kind == 3:
            i = self.const(self.r.integers(0, 6, self.shape(self.int(1, 2))).astype(np.float32))
            return self.same("Embedding", [i, self.weight((6, 3))], input_dim=6, output_dim=3)
        shape = tuple(d for i, d in enumerate(v.shape) if i != a % v.ndim)
        if shape:
            i = self.r.integers(-1, v.shape[a] + 1, shape).astype(np.float32)
            self.same("pick", [x, self.const(i)], axis=a, keepdims=self.chance(0.5), mode=self.pick(["clip", "wrap"]))

    def sequence(self):
        x = self.any(least=2)
        t, b = self.value(x).shape[:2]
        op = self.pick(["SequenceReverse", "SequenceLast", "SequenceMask"])
        n = self.r.integers(1, t + 1, b).astype(np.float32)
        more = {"value": -0.5} if op == "SequenceMask" else {}
        if self.chance(0.3):
            return self.same(op, [x], **more)
        self.same(op, [x, self.const(n)], use_sequence_length=True, **more)

    def blocks(self):
        x = self.any(rank=4)
        self.same(self.pick(["depth_to_space", "space_to_depth"]), [x], block_size=2)

    def made_of_nothing(self):
        kind = self.int(0, 2)
        if kind == 0:
            return self.same(self.pick(["_zeros", "_ones"]), [], shape=self.shape())
        if kind == 1:
            return self.same("_full", [], shape=self.shape(), value=1.5)
        self.same("_arange", [], start=self.int(-2, 2), stop=self.int(3, 9), step=self.pick([1.0, 0.5, 2.0]),
                  repeat=self.int(1, 2))

    # ---- sums and orders

    def reduce(self):
        op = self.pick("sum mean prod max min norm sum_axis max_axis min_axis".split())
        x = self.any()
        n = self.value(x).ndim
        axes = sorted(int(a) for a in self.r.choice(n, self.int(1, n), replace=False))
        attrs = {"axis": tuple(a - n if self.chance(0.3) else a for a in axes)} if self.chance(0.8) else {}
        if "axis" in attrs and op not in ("norm",) and self.chance(0.2):
            attrs["exclude"] = True
        if op == "norm":
            attrs["ord"] = self.pick([1, 2])
            if "axis" in attrs and len(axes) > 2:
                attrs["axis"] = attrs["axis"][:2]
        self.node(op, [x], exact=op.startswith(("max", "min")), keepdims=self.chance(0.5), **attrs)

    def order(self):
        x = self.any(exact=True)
        v = self.value(x)
        op = self.pick("argmax argmin argmax_channel topk sort argsort".split())
        if len(np.unique(v)) < v.size:
            return
        if op == "argmax_channel":
            return v.ndim > 1 and self.node(op, [x])
        a = self.axis(x)
        if op in ("argmax", "argmin"):
            return self.node(op, [x], axis=a, keepdims=self.chance(0.5))
        more = {"is_ascend": self.chance(0.5)}
        if op == "topk":
            more.update(k=self.int(1, v.shape[a]), ret_typ=self.pick(["value", "indices", "both"]))
        self.node(op, [x], 2 if more.get("ret_typ") == "both" else 1, axis=a, **more)

    def matmul(self):
        kind = self.int(0, 3)
        x = self.any(rank={0: 2, 1: 3, 2: self.pick([2, 3, 4]), 3: self.pick([2, 3])}[kind])
        s, n = self.value(x).shape, self.int(1, 9)
        ta, tb = self.chance(0.3), self.chance(0.3)
        k = s[-2] if ta else s[-1]
        w = (n, k) if tb else (k, n)
        if kind == 0:
            return self.node("dot", [x, self.operand(lambda v: v.shape == w, w)], transpose_a=ta, transpose_b=tb)
        if kind == 1:
            y = self.operand(lambda v: v.shape == s[:1] + w, s[:1] + w)
            return self.node("batch_dot", [x, y], transpose_a=ta, transpose_b=tb)
        if kind == 3:
            y = self.operand(lambda v: v.shape == s[:-2] + w, s[:-2] + w)
            return self.node(self.pick(["_linalg_gemm2", "linalg_gemm2"]), [x, y], transpose_a=ta, transpose_b=tb,
                             alpha=self.pick([1.0, 0.5]))
        flat, bias = self.chance(0.6), self.chance(0.7)
        ins = [x, self.weight((n, int(np.prod(s[1:])) if flat else s[-1]))] + ([self.weight((n,))] if bias else [])
        self.node("FullyConnected", ins, num_hidden=n, flatten=flat, no_bias=not bias)

    # ---- windows

    def conv(self):
        x = self.any(rank=self.pick([4, 4, 4, 3, 5]))
        s = self.value(x).shape
        c, dims = s[1], s[2:]
        k = tuple(self.int(1, min(4, d)) for d in dims)
        attrs = {"kernel": k}
        if self.chance(0.7):
            attrs["stride"] = tuple(self.pick([1, 1, 2, 3]) for _ in dims)
        if self.chance(0.5):
            attrs["pad"] = tuple(self.int(0, q - 1) for q in k)
        if self.chance(0.25):
            attrs["dilate"] = tuple(2 if (q - 1) * 2 < d and q > 1 else 1 for q, d in zip(k, dims))
        group = self.pick([g for g in range(1, c + 1) if c % g == 0]) if self.chance(0.4) else 1
        out, bias = group * self.pick([1, 1, 2, 3, 8]), self.chance(0.6)
        attrs.update(num_filter=out, no_bias=not bias)
        if group > 1 or self.chance(0.2):
            attrs["num_group"] = group
        if self.chance(0.3) and len(dims) < 3:
            if self.chance(0.3) and "stride" in attrs:
                attrs["adj"] = tuple(self.int(0, t - 1) for t in attrs["stride"])
            w = self.weight((c, out // group) + k)
            made = self.node("Deconvolution", [x, w] + ([self.weight((out,))] if bias else []), **attrs)
        else:
            w = self.weight((out, c // group) + k)
            made = self.node("Convolution", [x, w] + ([self.weight((out,))] if bias else []), **attrs)
        if made and self.chance(0.4):
            made = self.batch_norm(made[0])
        if made and self.chance(0.5):
            self.node("Activation", [made[0]], act_type=self.pick("relu sigmoid tanh softrelu".split()))

    def batch_norm(self, x=None):
        x = x or self.any(least=2)
        axis = 1 if self.chance(0.85) else self.axis(x)
        c = self.value(x).shape[axis:][:1] if axis >= 0 else self.value(x).shape[axis:][:1]
        vectors = [self.weight(c, 1) for _ in range(3)] + [self.const(np.abs(self.data(c)) + np.float32(0.5))]
        attrs = {"eps": self.pick([1e-3, 1e-2]), "fix_gamma": self.chance(0.5), "use_global_stats": self.chance(0.5)}
        return self.node("BatchNorm", [x] + vectors, 1, **attrs, **({"axis": axis} if axis != 1 else {}))

    def pool(self):
        x = self.any(rank=self.pick([4, 4, 3, 5]))
        dims = self.value(x).shape[2:]
        kind = self.pick(["max", "avg", "sum"])
        if self.chance(0.2):
            return self.node("Pooling", [x], exact=kind == "max", global_pool=True, pool_type=kind,
                             kernel=(1,) * len(dims))
        k = tuple(self.int(1, min(3, d)) for d in dims)
        attrs = {"kernel": k, "pool_type": kind, "stride": tuple(self.int(1, 3) for _ in dims)}
        if self.chance(0.5):
            attrs["pad"] = tuple(self.int(0, q - 1) for q in k)
        if self.chance(0.3) and all(t <= q for t, q in zip(attrs["stride"], k)):  # else windows may be empty
            attrs["pooling_convention"] = self.pick(["full", "valid"])
        if kind == "avg" and self.chance(0.5):
            attrs["count_include_pad"] = self.chance(0.5)
        self.node("Pooling", [x], exact=kind == "max", **attrs)

    def resize(self):
        x = self.any(rank=4)
        kind = self.int(0, 3)
        s = self.value(x).shape
        if kind == 0:
            return self.same("UpSampling", [x], scale=self.int(1, 3), sample_type="nearest", num_args=1)
        if kind == 1:
            return self.node("_contrib_AdaptiveAvgPooling2D", [x], output_size=(self.int(1, s[2]), self.int(1, s[3])))
        if kind == 2:
            return self.node("_contrib_BilinearResize2D", [x], height=self.int(1, 9), width=self.int(1, 9),
                             **({"align_corners": self.chance(0.5)} if self.chance(0.6) else {}))
        h, w = self.int(1, s[2]), self.int(1, s[3])
        if self.chance(0.5):
            return self.same("Crop", [x], num_args=1, h_w=(h, w), offset=(self.int(0, s[2] - h), self.int(0, s[3] - w)))
        self.same("Crop", [x], num_args=1, h_w=(h, w), center_crop=True)

    def regions(self):
        x = self.any(rank=4)
        images, _, h, w = self.value(x).shape
        n, size = self.int(1, 4), (self.int(1, 4), self.int(1, 4))
        scale = self.pick([1.0, 0.5])
        corners = np.sort(self.r.uniform(-1, max(h, w) / scale, (n, 2, 2)), 1).reshape(n, 4)
        roi = np.concatenate([self.r.integers(0, images, (n, 1)), corners], 1).astype(np.float32)
        if self.chance(0.5):
            return self.node("ROIPooling", [x, self.const(roi)], pooled_size=size, spatial_scale=scale, exact=True)
        self.node("_contrib_ROIAlign", [x, self.const(roi)], pooled_size=size, spatial_scale=scale,
                  **({"sample_ratio": self.int(1, 3)} if self.chance(0.5) else {}),
                  **({"aligned": True} if self.chance(0.4) else {}))

    def norm(self):
        op = self.pick("LayerNorm InstanceNorm GroupNorm L2Normalization LRN softmax softmax softmin log_softmax "
                       "SoftmaxActivation SoftmaxOutput".split())
        x = self.any(rank=4) if op == "LRN" else self.any(least=2)
        s = self.value(x).shape
        if op == "LayerNorm":
            a = self.axis(x)
            return self.node(op, [x, self.weight((s[a],)), self.weight((s[a],))], axis=a, eps=0.0625)
        if op == "InstanceNorm":
            return len(s) > 2 and self.node(op, [x, self.weight(s[1:2]), self.weight(s[1:2])], eps=0.0625)
        if op == "GroupNorm":
            g = self.pick([k for k in range(1, s[1] + 1) if s[1] % k == 0])
            return self.node(op, [x, self.weight(s[1:2]), self.weight(s[1:2])], num_groups=g, eps=0.0625)
        if op == "L2Normalization":
            return self.node(op, [x], mode=self.pick(["instance", "channel", "spatial"]), eps=0.01)
        if op == "LRN":
            return self.node(op, [x], nsize=self.pick([1, 3, 5]), alpha=0.01, knorm=2.0)
        if op == "SoftmaxActivation":
            return self.node(op, [x], mode=self.pick(["instance", "channel"]))
        if op == "SoftmaxOutput":
            label = self.const(np.zeros(s[:1], np.float32))
            return self.node(op, [x, label], **self.pick([{}, {"preserve_shape": True}, {"multi_output": True}]))
        more, a = {"temperature": 2.0} if self.chance(0.3) else {}, self.axis(x)
        if op != "log_softmax" or s[a] > 1:  # of one element it is not quite 0 in MXNet
            self.node(op, [x], axis=a, **more)

    def recurrent(self):
        x = self.any(rank=3)
        t, b, n = self.value(x).shape
        mode, h, layers = self.pick("rnn_relu rnn_tanh lstm gru".split()), self.int(1, 4), self.int(1, 2)
        d, gates = 1 + self.chance(0.4), {"lstm": 4, "gru": 3}.get(mode, 1)
        size = sum(d * gates * h * ((d * h if k else n) + h + 2) for k in range(layers))
        ins = [x, self.weight((size,), 0.4)] + [self.fresh(self.data((layers * d, b, h))) for _ in range(
            2 if mode == "lstm" else 1)]
        states = self.chance(0.5)
        self.node("RNN", ins, (3 if mode == "lstm" else 2) if states else 1, mode=mode, state_size=h, num_layers=layers,
                  bidirectional=d == 2, state_outputs=states)

    def boxes(self):
        kind = self.int(0, 3)
        n, c = self.int(4, 12), self.int(1, 3)
        corner = lambda *shape: np.sort(self.r.random((*shape, 2, 2)), -2).reshape(*shape, 4).astype(np.float32)
        if kind == 2:
            rows = np.concatenate([self.r.integers(0, 3, (2, n, 1)), self.r.permutation(2 * n).reshape(2, n, 1) / 30,
                                   corner(2, n)], 2).astype(np.float32)
            return self.node("_contrib_box_nms", [self.const(rows)], exact=True, overlap_thresh=self.pick([0.5, 0.2]),
                             coord_start=2, score_index=1, **({"id_index": 0} if self.chance(0.6) else {}),
                             **({"topk": self.int(1, n)} if self.chance(0.4) else {}),
                             **({"valid_thresh": 0.3} if self.chance(0.4) else {}),
                             **({"force_suppress": True} if self.chance(0.3) else {}))
        if kind == 3:
            score = self.r.permutation(2 * (c + 1) * n).reshape(2, c + 1, n) / (2 * (c + 1) * n)
            ins = [score.astype(np.float32), (self.r.standard_normal((2, 4 * n)) * .1).astype(np.float32), corner(1, n)]
            return self.node("_contrib_MultiBoxDetection", [self.const(v) for v in ins], exact=True,
                             nms_threshold=self.pick([0.5, 0.2]), threshold=self.pick([0.01, 0.3]),
                             force_suppress=self.chance(0.3),
                             **({"nms_topk": self.int(1, n)} if self.chance(0.4) else {}))
        if kind == 0:
            x = self.any(rank=4)
            return self.node("_contrib_MultiBoxPrior", [x], sizes=(0.5, 0.25), ratios=(1.0, 2.0), clip=self.chance(0.5))
        self.node("_contrib_box_iou", [self.const(corner(n)), self.const(corner(c))], format="corner")

    def graph(self, size):
        often = [self.unary, self.unary, self.activation, self.binary, self.scalar, self.conv, self.conv, self.reshape,
                 self.transpose, self.slice, self.concat, self.matmul] * 2
        families = often + [self.integer, self.compare, self.several, self.clip, self.cast, self.split, self.pad,
                            self.repeat, self.repeat, self.gather, self.gather, self.sequence, self.blocks,
                            self.made_of_nothing, self.reduce, self.reduce, self.order, self.batch_norm, self.pool,
                            self.pool, self.resize, self.regions, self.norm, self.norm, self.norm, self.recurrent,
                            self.boxes]
        if self.chance(0.5):  # fewer kinds: longer chains of the same
            families = [self.pick(families) for _ in range(self.int(3, 8))]
        self.input(self.data(self.shape(self.pick([3, 4, 4]))))
        self.grow(families, size)
        self.choose_outputs()
        return self.g.swept()


def make(seed, size):
    return MxnetMaker(seed).graph(size)
