"""Values of forms of ONNX operators that no conformance case has.   onnx_values.py ARENAC"""
import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[k] / d) for k, d in ((1, "golden"), (2, "models"))]
from compare import finish, run
from onnx_bytes import *

arenac = sys.argv[1]
rng = np.random.default_rng(11)
TYPE = {"float32": F32, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": I32, "int64": I64, "bool": BOOL,
        "float64": 11}


def const(name, v):
    v = np.ascontiguousarray(v)
    return tensor(name, TYPE[v.dtype.name], v.shape, v.tobytes())


def info(name, v):
    return name, TYPE[v.dtype.name], v.shape


def check(what, nodes, feeds, want, weights=(), opset=18, extra=(), also=(), domain=()):
    """feeds: {name: array} for the inputs; want: {name: array}; weights: {name: array}; also: initialisers' names that
    are inputs as well."""
    want, weights = {k: np.asarray(v) for k, v in want.items()}, dict(weights)
    ins = [info(k, v) for k, v in feeds.items()] + [info(k, weights[k]) for k in also]
    text = model(graph(nodes, ins, [info(k, v) for k, v in want.items()], [const(k, v) for k, v in weights.items()]),
                 opsets=(("", opset), *domain))
    run(arenac, {what + ".onnx": text}, list(feeds.values()), want, extra)


def weights_of(size, out, scale, mode, a=-0.75):
    """Each row: the weights of the inputs in a result, half_pixel, in double."""
    m = np.zeros((out, size))
    for o in range(out):
        at = (o + 0.5) / scale - 0.5
        low = int(np.floor(at))
        for i in range(low - 1, low + 3):
            t = abs(i - at)
            w = max(0, 1 - t) if mode == "linear" else (
                ((a + 2) * t - (a + 3)) * t * t + 1 if t <= 1 else ((a * t - 5 * a) * t + 8 * a) * t - 4 * a)
            m[o, min(max(i, 0), size - 1)] += w if t < 2 else 0
    return m


def cubic():
    for dtype in ("uint8", "int8", "int16"):
        lim = np.iinfo(dtype)
        x = rng.integers(lim.min, lim.max + 1, (1, 2, 5, 6)).astype(dtype)
        rows, columns = weights_of(5, 10, 2, "cubic"), weights_of(6, 9, 1.5, "cubic")
        y = np.einsum("oh,nchw,pw->ncop", rows, x.astype(np.float64), columns)
        check("resize_cubic_" + dtype, [node("Resize", ["x", "", "s"], ["y"], attr_word("mode", "cubic"))], {"x": x},
              {"y": np.clip(np.rint(y), lim.min, lim.max).astype(dtype)}, {"s": np.float32([1, 1, 2, 1.5])})


def defaults():
    """An initialiser that is an input as well is its default, which --const and --input replace."""
    x, w, v = (rng.standard_normal(k).astype(np.float32) for k in ((2, 3), 3, 3))
    nodes = [node("Mul", ["x", "w"], ["y"])]
    check("default", nodes, {"x": x}, {"y": x * w}, {"w": w}, also=["w"])
    np.save("v.npy", v)
    check("default_const", nodes, {"x": x}, {"y": x * v}, {"w": w}, also=["w"], extra=["--const", "w=v.npy"])
    check("default_input", nodes, {"x": x}, {"y": x * v}, {"w": w}, also=["w"], extra=["--input", "w=v.npy"])
    np.save("v.npy", np.int64([3, 2]))
    check("default_shape", [node("Reshape", ["x", "k"], ["y"])], {"x": x}, {"y": x.reshape(3, 2)},
          {"k": np.int64([6, 1])}, also=["k"], extra=["--const", "k=v.npy"])


def loops():
    """No iteration: carried values as they were, and no elements of the shape that the body gives."""
    x = rng.standard_normal((2, 3)).astype(np.float32)
    step = [node("Identity", ["c"], ["c2"]), node("Add", ["v", "x"], ["v2"]), node("Concat", ["v", "x"], ["e"],
                                                                                   attr_int("axis", 1))]
    body = graph(step, [("i", I64, []), ("c", BOOL, []), ("v", F32, [2, 3])],
                 [("c2", BOOL, []), ("v2", F32, [2, 3]), ("e", F32, [2, 6])])
    for what, trips, again in (("trips", 0, True), ("condition", 5, False)):
        check("loop_no_" + what, [node("Loop", ["n", "go", "x"], ["last", "all"], attr_graph("body", body)),
                                  node("ReduceSum", ["all"], ["sum"], attr_int("keepdims", 0))], {"x": x},
              {"last": x, "all": np.zeros((0, 2, 6), np.float32), "sum": np.float32(0)},
              {"n": np.int64(trips), "go": np.bool_(again)})


def optional():
    x = rng.standard_normal((2, 3)).astype(np.float32)
    there = [node("Optional", ["x"], ["o"]), node("OptionalHasElement", ["o"], ["has"]),
             node("OptionalGetElement", ["o"], ["e"])]
    check("optional", there + [node("Neg", ["e"], ["y"])], {"x": x}, {"has": np.bool_(True), "y": -x})
    branch = lambda op, y: graph([node(op, ["x"], [y])], (), [(y, F32, [2, 3])])
    none = [node("Optional", [], ["o"]), node("OptionalHasElement", ["o"], ["has"]),
            node("If", ["has"], ["y"], attr_graph("then_branch", branch("Neg", "a")) +
                 attr_graph("else_branch", branch("Abs", "b")))]
    check("optional_none", none, {"x": x}, {"has": np.bool_(False), "y": np.abs(x)})


def stft():
    x = rng.standard_normal((2, 24)).astype(np.float32)
    window = np.hanning(8).astype(np.float32)

    def bins(signal):
        f = np.stack([np.fft.rfft(signal[..., k:k + 8].astype(np.float64) * window) for k in range(0, 17, 4)], -2)
        return np.stack([f.real, f.imag], -1).astype(np.float32)

    nodes = [node("STFT", ["x", "step", "w"], ["y"], attr_int("onesided", 1))]
    weights = {"step": np.int64(4), "w": window}
    check("stft_batch", nodes, {"x": x}, {"y": bins(x)}, weights)
    check("stft_plain", nodes, {"x": x[0]}, {"y": bins(x[:1])}, weights)
    check("stft_f64", nodes, {"x": x.astype(np.float64)}, {"y": bins(x).astype(np.float64)},
          {"step": np.int64(4), "w": window.astype(np.float64)})


def recurrent():
    """An RNN of doubles."""
    x, w, r = (rng.standard_normal(s) for s in ((12, 2, 3), (1, 4, 3), (1, 4, 4)))
    h, all_h = np.zeros((2, 4)), []
    for step in x:
        h = np.tanh(step @ w[0].T + h @ r[0].T)
        all_h.append(h)
    check("rnn_f64", [node("RNN", ["x", "w", "r"], ["y"], attr_int("hidden_size", 4))], {"x": x},
          {"y": np.stack(all_h)[:, None]}, {"w": w, "r": r})


def pads():
    """More than once around."""
    x = rng.standard_normal((2, 3)).astype(np.float32)
    check("pad_wrap", [node("Pad", ["x", "p"], ["y"], attr_word("mode", "wrap"))], {"x": x},
          {"y": np.pad(x, ((5, 3), (7, 10)), "wrap")}, {"p": np.int64([5, 7, 3, 10])}, opset=19)


def experts():
    """Layouts of gates that ONNX Runtime has on GPUs only."""
    n, e, h, i, k = 3, 4, 6, 5, 2
    f = lambda *d: (rng.standard_normal(d) * 0.5).astype(np.float32)
    x, route = f(n, h), f(n, e)
    w1, b1, w2, b2, w3, b3 = f(e, i, h), f(e, i), f(e, h, i), f(e, h), f(e, i, h), f(e, i)
    share = np.exp(route) / np.exp(route).sum(1, keepdims=True)
    swish = lambda v, alpha=1.0: v / (1 + np.exp(-alpha * v))

    def mixed(expert):
        y = np.zeros((n, h), np.float32)
        for t in range(n):
            for j in np.argsort(-route[t])[:k]:
                y[t] += share[t, j] * expert(x[t], j)
        return y

    gate, linear = lambda v, j: w1[j] @ v + b1[j], lambda v, j: w3[j] @ v + b3[j]
    glu = mixed(lambda v, j: w2[j] @ (swish(gate(v, j), 1.5) * (linear(v, j) + 0.5)) + b2[j])
    want = {"y": glu}
    attrs = attr_word("activation_type", "swiglu") + attr_int("k", k) + attr_float("activation_alpha", 1.5)
    attrs += attr_float("activation_beta", 0.5)
    feeds, weights = {"x": x, "r": route}, {"w1": w1, "b1": b1, "w2": w2, "b2": b2, "w3": w3, "b3": b3}
    names, ms = ["x", "r", "w1", "b1", "w2", "b2"], (("com.microsoft", 1),)
    one = lambda names, attrs: [node("MoE", names, ["y"], attrs, domain="com.microsoft")]
    check("moe_split", one(names + ["w3", "b3"], attrs), feeds, want, weights, domain=ms)
    joined = dict(weights, w1=np.concatenate([w1, w3], 1), b1=np.concatenate([b1, b3], 1))
    check("moe_halves", one(names, attrs + attr_int("swiglu_fusion", 2)), feeds, want, joined, domain=ms)
    gated = mixed(lambda v, j: w2[j] @ (swish(gate(v, j)) * linear(v, j)) + b2[j])
    check("moe_third", one(names + ["w3", "b3"], attr_word("activation_type", "silu") + attr_int("k", k)), feeds,
          {"y": gated}, weights, domain=ms)


def branches():
    """A recurrent layer over as many steps as a branch gives."""
    x, w, r = (rng.standard_normal(k).astype(np.float32) for k in ((3, 1, 2), (1, 4, 2), (1, 4, 4)))
    once = graph([node("Neg", ["x"], ["a"])], (), [("a", F32, [])])
    twice = graph([node("Concat", ["x", "x"], ["b"], attr_int("axis", 0))], (), [("b", F32, [])])
    nodes = [node("If", ["c"], ["s"], attr_graph("then_branch", once) + attr_graph("else_branch", twice)),
             node("RNN", ["s", "w", "r"], ["", "last"], attr_int("hidden_size", 4))]
    for fast, steps in ((True, -x), (False, np.concatenate([x, x]))):
        h = np.zeros((1, 4), np.float32)
        for v in steps:
            h = np.tanh(v @ w[0].T + h @ r[0].T)
        check("rnn_of_branch", nodes, {"x": x, "c": np.bool_(fast)}, {"last": h[None]}, {"w": w, "r": r})


for test in (cubic, defaults, loops, optional, stft, recurrent, pads, experts, branches):
    test()
finish()
