"""Loop and If of ONNX with data-dependent conditions and trip counts, nested, with scan outputs, and recurrent layers
whose sequences have lengths, compared with ONNX Runtime.

    loops_ort.py ARENAC DIR BACKEND[,BACKEND..]
"""

import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

arenac, out, backends = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(",")
F, I, I32, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
random = np.random.default_rng(5)
CASES = {}


def node(op, ins, outs, **attrs):
    return helper.make_node(op, ins.split(), outs.split(), **attrs)


def value(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def graph(name, nodes, ins, outs, **constants):
    return helper.make_graph(
        nodes, name, ins, outs, [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    )


def body(nodes, carried, outs, **constants):
    return graph("body", nodes, [value("it", I), value("c", B), *carried], [value("c2", B), *outs], **constants)


def case(name, top, **given):
    model = helper.make_model(top, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    CASES[name] = (model, {k: np.asarray(v) for k, v in given.items()})


def floats(*shape):
    return random.random(shape).astype(np.float32)


def loops():
    """Ends early, collects; carried values that change places; a trip count that is an input; many iterations."""
    early = body(
        [
            node("Mul", "v k", "v2"),
            node("Tanh", "outer", "tw"),
            node("Add", "v2 tw", "v3"),
            node("ReduceMax", "v3", "mx", keepdims=0),
            node("Less", "mx limit", "c2"),
            node("ReduceSum", "v3", "s", keepdims=0),
        ],
        [value("v", F, 3, 5)],
        [value("v3", F, 3, 5), value("s", F)],
        k=np.float32(1.3),
    )
    top = graph(
        "early",
        [node("Relu", "w", "outer"), helper.make_node("Loop", ["m", "", "x"], ["y", "sums"], body=early)],
        [value("x", F, 3, 5), value("w", F, 3, 5), value("limit", F)],
        [value("y", F, 3, 5), value("sums", F, None)],
        m=np.int64(20),
    )
    case("early", top, x=floats(3, 5), w=floats(3, 5), limit=np.float32(9))

    swap = body(
        [
            node("Add", "a b", "s"),
            node("Identity", "a", "b2"),
            node("ReduceSum", "s", "t", keepdims=0),
            node("Less", "t lim", "c2"),
        ],
        [value("a", F, 4), value("b", F, 4)],
        [value("s", F, 4), value("b2", F, 4)],
        lim=np.float32(1000),
    )
    top = graph(
        "swap",
        [helper.make_node("Loop", ["", "c0", "a0", "b0"], ["a1", "b1"], body=swap)],
        [value("c0", B), value("a0", F, 4), value("b0", F, 4)],
        [value("a1", F, 4), value("b1", F, 4)],
    )
    ones = np.ones(4, np.float32)
    case("swap", top, c0=True, a0=ones, b0=ones)
    case("none", top, c0=False, a0=ones, b0=ones)

    counted = body(
        [
            node("Cast", "it", "f", to=F),
            node("Add", "a f", "s"),
            node("MatMul", "s W", "q"),
            node("Tanh", "q", "z"),
            node("Identity", "c", "c2"),
        ],
        [value("a", F, 2, 8)],
        [value("z", F, 2, 8)],
        W=random.normal(size=(8, 8)).astype(np.float32) * np.float32(0.3),
    )
    top = graph(
        "counted",
        [node("Loop", "n t a0", "a1", body=counted)],
        [value("n", I), value("a0", F, 2, 8)],
        [value("a1", F, 2, 8)],
        t=True,
    )
    case("counted", top, n=np.int64(11), a0=floats(2, 8))

    many = body(
        [
            node("Gather", "xs it", "x"),
            node("Mul", "a d", "e"),
            node("Add", "e x", "s"),
            node("Identity", "c", "c2"),
            node("Identity", "s", "o"),
        ],
        [value("a", F, 3)],
        [value("s", F, 3), value("o", F, 3)],
        d=np.float32(0.9),
    )
    for steps in (100, 6000):
        top = graph(
            "many",
            [node("Loop", "n t a0", "a1 all", body=many)],
            [value("xs", F, steps, 3), value("a0", F, 3)],
            [value("a1", F, 3), value("all", F, steps, 3)],
            n=np.int64(steps),
            t=True,
        )
        case("many%d" % steps, top, xs=floats(steps, 3), a0=floats(3))
    kept = graph(
        "kept",
        [node("Loop", "n c0 a0", "a1 all", body=many)],
        [value("xs", F, 5, 3), value("c0", B), value("a0", F, 3)],
        [value("a1", F, 3), value("all", F, None, 3)],
        n=np.int64(5),
    )
    for begins in (False, True):
        case("kept condition, %s" % begins, kept, xs=floats(5, 3), c0=begins, a0=floats(3))


def branches():
    """Convolutions in branches; results of two lengths."""
    shape = (1, 8, 16, 16)
    yes = graph("yes", [node("Conv", "x W", "p", pads=[1] * 4), node("Relu", "p", "y")], [], [value("y", F, *shape)])
    no = graph("no", [node("Conv", "x W", "p", pads=[1] * 4), node("Sigmoid", "p", "y")], [], [value("y", F, *shape)])
    top = graph(
        "branches",
        [node("If", "c", "y", then_branch=yes, else_branch=no), node("GlobalAveragePool", "y", "z")],
        [value("c", B), value("x", F, 1, 3, 16, 16)],
        [value("y", F, *shape), value("z", F, 1, 8, 1, 1)],
        W=random.normal(size=(8, 3, 3, 3)).astype(np.float32),
    )
    yes = graph("yes", [node("Concat", "x x", "y", axis=0)], [], [value("y", F, None, 4)])
    no = graph("no", [node("Neg", "x", "y")], [], [value("y", F, None, 4)])
    lengths = graph(
        "lengths",
        [node("If", "c", "y", then_branch=yes, else_branch=no), node("Exp", "y", "z")],
        [value("c", B), value("x", F, 3, 4)],
        [value("z", F, None, 4)],
    )
    for c in (True, False):
        case("branches%d" % c, top, c=c, x=floats(1, 3, 16, 16))
        case("lengths%d" % c, lengths, c=c, x=floats(3, 4))


def nested():
    """A loop in a branch in a loop; all three read values from outside."""
    inner = graph(
        "inner",
        [
            node("Mul", "p half", "p2"),
            node("ReduceMax", "p2", "pm", keepdims=0),
            node("Greater", "pm one", "more"),
        ],
        [value("at", I), value("ci", B), value("p", F, 6)],
        [value("more", B), value("p2", F, 6)],
        half=np.float32(0.5),
        one=np.float32(1),
    )
    yes = graph("yes", [helper.make_node("Loop", ["", "c", "v"], ["r"], body=inner)], [], [value("r", F, 6)])
    no = graph(
        "no", [node("Add", "v q", "r0"), node("MatMul", "r0 W", "r1"), node("Abs", "r1", "r")], [], [value("r", F, 6)]
    )
    outer = body(
        [
            node("ReduceMax", "v", "m", keepdims=0),
            node("Greater", "m five", "over"),
            node("If", "over", "v2", then_branch=yes, else_branch=no),
            node("Cast", "it", "f", to=F),
            node("Less", "f stop", "c2"),
        ],
        [value("v", F, 6)],
        [value("v2", F, 6)],
        five=np.float32(5),
    )
    top = graph(
        "nested",
        [helper.make_node("Loop", ["", "c0", "v0"], ["v9"], body=outer)],
        [value("c0", B), value("v0", F, 6), value("q", F, 6), value("stop", F)],
        [value("v9", F, 6)],
        W=np.abs(random.normal(size=(6, 6))).astype(np.float32),
    )
    case("nested", top, c0=True, v0=floats(6), q=floats(6), stop=np.float32(13))


def sequences():
    """Recurrent layers whose sequences have lengths, 0 among them, and first states."""
    for op, gates in ("LSTM", 4), ("GRU", 3), ("RNN", 1):
        for way, d, known in ("reverse", 1, True), ("bidirectional", 2, False):
            lengths = np.array([2, 0, 4], np.int32)
            weights = {"W": floats(d, gates * 3, 2), "R": floats(d, gates * 3, 3)}
            states = {k: floats(d, 3, 3) - np.float32(0.5) for k in ("h0", "c0")[: 2 if op == "LSTM" else 1]}
            given = {"x": floats(4, 3, 2), **states, **({} if known else {"n": lengths})}
            weights.update({"n": lengths} if known else {})
            results = ["y", "h", "c"] if op == "LSTM" else ["y", "h"]
            top = graph(
                "sequences",
                [helper.make_node(op, ["x", "W", "R", "", "n", *states], results, hidden_size=3, direction=way)],
                [value(k, I32 if k == "n" else F, *v.shape) for k, v in given.items()],
                [value(k, F, *([4] if k == "y" else []), d, 3, 3) for k in results],
                **weights,
            )
            case("lengths of %s, %s" % (op, way), top, **given)


def run(name, model, given, backend):
    """The failure; None: none."""
    path, results = out / (name + ".onnx"), out / (name + "-" + backend)
    onnx.save(model, path)
    want = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, given)
    args = [arenac, "run", "-q", path, "--backend", backend, "--output-dir", results]
    for k, v in given.items():
        np.save(out / (k + ".npy"), v)
        args += ["--input", "%s=%s" % (k, out / (k + ".npy"))]
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        return p.stderr
    for i, w in enumerate(want):
        have = np.load(results / ("%d.npy" % i))
        if have.shape != w.shape or not np.allclose(have, w, rtol=1e-4, atol=1e-5):
            return "output %d is %s, expected %s" % (i, have, w)
    return None


loops()
branches()
nested()
sequences()
bad = 0
for name, (model, given) in CASES.items():
    for backend in backends:
        wrong = run(name, model, given, backend)
        bad += wrong is not None
        if wrong is not None:
            print("%s, %s: %s" % (name, backend, wrong))
    proof = subprocess.run([arenac, "prove", out / (name + ".onnx")], capture_output=True, text=True)
    if proof.returncode:
        bad += 1
        print("%s: %s%s" % (name, proof.stdout, proof.stderr))
print("%d models, %d faults" % (len(CASES), bad))
sys.exit(bad > 0)
