"""NaN, infinities, zeros of both signs and subnormal numbers in every element-wise and reducing operator: one model of
many nodes, through arenac and through ONNX Runtime (its optimisations off), or NumPy where the results of ONNX Runtime
depend on the position of a NaN (docs/numerics.md).

    special_ort.py ARENAC DIR BACKEND TARGET SEED..           TARGET host: that of this machine
"""
import pathlib
import subprocess
import sys

import numpy as np

try:
    import onnx
    import onnxruntime as ort
    from onnx import helper, numpy_helper
except ImportError as e:
    print("skipped: %s is missing: pip install onnx onnxruntime" % e.name)
    sys.exit(77)

arenac, out, backend, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
ROWS, WIDTH = 12, 70  # wide enough for all schedules of a reduction
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40]


def numbers(r, shape, dtype, share):
    """Small numbers, with halves and integers among them; a share of special ones; the last row has infinities only."""
    x = np.where(r.random(shape) < 0.5, r.integers(-6, 7, shape) / 2, r.normal(0, 3, shape))
    x = np.where(r.random(shape) < share, r.choice(SPECIAL, shape), x)
    x[-1] = r.choice([-1, 1]) * np.inf
    return x.astype(dtype)


class Net:
    def __init__(self, dtype, opset):
        self.dtype, self.opset, self.nodes, self.init, self.cases = dtype, opset, [], [], []

    def const(self, v):
        name = "c%d" % len(self.init)
        self.init.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def op(self, kind, *operands, want=None, digits=0, which=0, outputs=1, **attrs):
        """want: the result by NumPy; None: that of ONNX Runtime. digits: tolerance, units of 2^-20 of the result."""
        names = [o if isinstance(o, str) else self.const(o) for o in operands]
        results = ["o%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        node = helper.make_node(kind, names, results, **attrs)
        self.nodes.append(node)
        label = "%s(%s) %s" % (kind, ", ".join(names), attrs or "")
        for i, name in enumerate(results):
            self.cases.append((label, name, (want if outputs == 1 else want[i]) if want is not None else None, digits))
        return results[0]


def arg(f, x, axis, last):
    if last:
        return x.shape[axis] - 1 - f(np.flip(x, axis), axis)
    return f(x, axis)


def windows(x, k):
    """The maxima of k neighbours along the last dimension."""
    return np.max(np.stack([x[..., i:x.shape[-1] - k + 1 + i] for i in range(k)]), axis=0)


def scattered(base, index, update, f):
    y = base.copy()
    for i, u in zip(index, update):
        y[i] = f(y[i], u)
    return y


def unary(n, x, f32):
    for kind in ("Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Relu"):
        n.op(kind, "x")
    if f32:  # ONNX Runtime has no kernels of f64 for these, and its Sigmoid loses digits
        for kind in ("Exp", "Log", "Sin", "Cos", "Tanh", "Erf", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid",
                     "ThresholdedRelu", "Softsign"):
            n.op(kind, "x", digits=64)
        v = x.astype(np.float64)
        n.op("Sigmoid", "x", digits=64, want=(1 / (1 + np.exp(-v))).astype(np.float32))
        n.op("HardSwish", "x", digits=64, want=(v * np.maximum(0, np.minimum(1, v / 6 + 0.5))).astype(np.float32))
    for bias, lambd in ((0.0, 0.5), (0.5, 1.5)):  # that of ONNX Runtime computes in f32
        n.op("Shrink", "x", bias=bias, lambd=lambd,
             want=np.where(x < -lambd, x + n.dtype(bias), np.where(x > lambd, x - n.dtype(bias), n.dtype(0))))
    n.op("Cast", "x", to=onnx.TensorProto.BOOL)
    n.op("IsNaN", "x")
    n.op("IsInf", "x")


def clips(n, dt):
    for lo, hi in ((-1, 1), (0, 6), (0.5, np.inf), (-np.inf, 0.5), (2, 1)):
        n.op("Clip", "x", dt(lo), dt(hi))
    n.op("Min", n.op("Clip", "x", dt(-1), dt(np.inf)), dt(1))
    n.op("Max", n.op("Min", "x", dt(2)), dt(-2), dt(-3))
    n.op("Relu", n.op("Max", "x", dt(-1)))
    n.op("Add", n.op("Min", n.op("Mul", "x", dt(2)), "y"), dt(1))


def binary(n, y, dt):
    for kind in ("Max", "Min"):
        for other in ("y", dt(0), dt(1.5), dt(np.nan), y[1], np.full_like(y[:1], 0.5)):
            n.op(kind, "x", other)
            n.op(kind, other, "x")
        n.op(kind, "x", "y", "x", dt(0.25))
    for kind in ("Add", "Sub", "Mul", "Div", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        n.op(kind, "x", "y")
    n.op("Where", n.op("Less", "x", "y"), "x", "y")
    if dt == np.float32:
        n.op("PRelu", "x", dt(0.25))


def reductions(n, x):
    axes = [(0,), (1,), (0, 1)]
    for kind, f in (("ReduceMax", np.max), ("ReduceMin", np.min)):
        for a in axes:
            n.op(kind, "x", np.int64(a), want=f(x, a), keepdims=0)
            n.op(kind, n.op("Mul", "x", n.dtype(2)), np.int64(a), want=f(x * 2, a), keepdims=0)
        n.op(kind, n.op("Reshape", "x", np.int64([3, ROWS // 3, WIDTH])), np.int64([0, 2]), keepdims=0,
             want=f(x.reshape(3, ROWS // 3, WIDTH), (0, 2)))
    for kind in ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare"):
        n.op(kind, "x", np.int64([1]), digits=512, keepdims=0)
    for kind, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for axis in (0, 1):
            for last in (0, 1):
                n.op(kind, "x", want=arg(f, x, axis, last), axis=axis, select_last_index=last, keepdims=0)
    for largest in (0, 1):
        for k in (1, 5, WIDTH):
            n.op("TopK", "x", np.int64([k]), want=(None, None), outputs=2, largest=largest)
    n.op("Softmax", "x", digits=512, axis=1)
    n.op("ReduceLogSumExp", "x", np.int64([1]), digits=512, keepdims=0)
    if n.dtype == np.float32:
        n.op("Hardmax", "x", axis=1, want=(np.arange(WIDTH) == np.argmax(x, 1)[:, None]).astype(x.dtype))
        n.op("LpNormalization", "x", digits=512, axis=1, p=1)
    n.op("CumSum", "x", np.int64(1), digits=512)


def pools(n, x, f32):
    image = x[None, None]
    i = n.op("Reshape", "x", np.int64(image.shape))
    for k in (2, 3, 7):
        n.op("MaxPool", i, want=windows(image, k), kernel_shape=[1, k])
    r = np.max(np.stack([windows(image[:, :, d:ROWS - 2 + d], 3) for d in range(3)]), axis=0)
    n.op("MaxPool", i, want=r, kernel_shape=[3, 3])
    n.op("MaxPool", n.op("Relu", i), want=np.maximum(r, 0), kernel_shape=[3, 3])
    r = np.max(np.stack([image[..., d:WIDTH - 4 + d] for d in (0, 2, 4)]), axis=0)
    n.op("MaxPool", i, want=r, kernel_shape=[1, 3], dilations=[1, 2])
    if f32:
        n.op("GlobalMaxPool", i, want=np.max(image, (2, 3), keepdims=True))
        n.op("AveragePool", i, digits=64, kernel_shape=[2, 2])


def scatters(n, x, y):
    index = np.random.default_rng(1).integers(0, WIDTH, WIDTH)
    row, up = (n.op("Gather", v, np.int64(0), axis=0) for v in "xy")
    for how, f in (("max", np.maximum), ("min", np.minimum)):
        want = scattered(x[0], index, y[0], f)
        n.op("ScatterElements", row, index, up, want=want, reduction=how)
        n.op("ScatterND", row, index[:, None], up, want=want, reduction=how)


def quantised(n):
    for zero in (np.int8(3), np.uint8(7), np.int16(-5), np.uint16(9)):
        n.op("QuantizeLinear", "x", np.float32(0.5), zero)
        n.op("QuantizeLinear", "x", np.float32(0.5) * np.arange(1, ROWS + 1, dtype=np.float32), np.full(ROWS, zero),
             axis=0)


def make(seed, dt):
    r = np.random.default_rng(seed)
    x, y = (numbers(r, (ROWS, WIDTH), dt, 0.04 if seed % 2 else 0.3) for _ in range(2))
    n, f32 = Net(dt, 21), dt == np.float32
    with np.errstate(all="ignore"):
        unary(n, x, f32)
        clips(n, dt)
        binary(n, y, dt)
        reductions(n, x)
        pools(n, x, f32)
        scatters(n, x, y)
        if f32:
            quantised(n)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dt))
    inputs = [helper.make_tensor_value_info(s, kind, (ROWS, WIDTH)) for s in "xy"]
    outputs = [helper.make_empty_tensor_value_info(c[1]) for c in n.cases]
    graph = helper.make_graph(n.nodes, "g", inputs, outputs, n.init)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", n.opset)], ir_version=9)
    return model, n.cases, {"x": x, "y": y}


def theirs(model, feeds):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads, o.log_severity_level = 1, 4
    return ort.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, feeds)


def ours(model, feeds):
    (out / "m.onnx").write_bytes(model.SerializeToString())
    args = []
    for name, v in feeds.items():
        np.save(out / (name + ".npy"), v)
        args += ["--input", "%s=%s" % (name, out / (name + ".npy"))]
    r = subprocess.run([arenac, "run", "-q", out / "m.onnx", *args, "--output-dir", out / "y", "--backend", backend,
                        *([] if target == "host" else ["-t", target])], capture_output=True, text=True)
    if r.returncode:
        sys.exit("special_ort.py: %s" % r.stderr)
    return [np.load(out / "y" / ("%d.npy" % i)) for i in range(len(model.graph.output))]


def differs(got, want, digits):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return "%s %s, expected %s %s" % (got.dtype, got.shape, want.dtype, want.shape)
    with np.errstate(all="ignore"):
        same = got == want
        if got.dtype.kind == "f":
            same |= np.isnan(got) & np.isnan(want)
            if digits:
                same |= np.abs(got - want) <= digits * 2.0 ** -20 * np.abs(want) + 1e-30
    bad = np.argwhere(~same)
    if not len(bad):
        return None
    i = tuple(bad[0])
    return "%d of %d, first at %s: %s, expected %s" % (len(bad), got.size, [int(k) for k in i], got[i], want[i])


failed = 0
for seed in sys.argv[5:]:
    for dt in (np.float32, np.float64):
        model, cases, feeds = make(int(seed), dt)
        for (label, _, want, digits), a, b in zip(cases, ours(model, feeds), theirs(model, feeds)):
            why = differs(a, b if want is None else want, digits)
            if why:
                print("seed %s, %s, %s: %s" % (seed, dt.__name__, label, why))
                failed += 1
sys.exit(failed > 0)
