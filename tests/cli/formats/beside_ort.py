"""Random models of single operators, through ONNX Runtime (its optimisations off) and through arenac; compares.

    beside_ort.py ARENAC DIR BACKEND SEEDS [PATTERN]

Each function of a family below gives cases: (operator, operands, attributes, results, tolerance). An operand is an
array (a constant of the model), In(array) (an input) or None (left out).
"""
import fnmatch
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
arenac, out, backend, seeds = sys.argv[1:5]
pattern = sys.argv[5] if len(sys.argv) > 5 else "*"
MS, ML = "com.microsoft", "ai.onnx.ml"


class In:
    def __init__(self, v):
        self.v = np.asarray(v)


def model(domain, op, operands, attrs, results, opset):
    inputs, init, names = [], [], []
    for i, x in enumerate(operands):
        names.append("" if x is None else "i%d" % i)
        if isinstance(x, In):
            kind = onnx.TensorProto.STRING if x.v.dtype.kind == "U" else helper.np_dtype_to_tensor_dtype(x.v.dtype)
            inputs.append(helper.make_tensor_value_info(names[-1], kind, x.v.shape))
        elif isinstance(x, onnx.TensorProto):
            x.name = names[-1]
            init.append(x)
        elif x is not None:
            init.append(numpy_helper.from_array(np.asarray(x), names[-1]))
    outs = ["o%d" % i if want else "" for i, want in enumerate(results)]
    node = helper.make_node(op, names, outs, domain=domain, name="n", **attrs)
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info(o) for o in outs if o], init)
    sets = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def theirs(m, feeds):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    o.log_severity_level = 4
    s = ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"])
    # a map for each row, which arenac gives as a matrix
    return [np.float32([list(row.values()) for row in w]) if isinstance(w, list) else w for w in s.run(None, feeds)]


def ours(m, feeds):
    path = pathlib.Path(out)
    for f in path.glob("*.npy"):
        f.unlink()
    onnx.save(m, path / "m.onnx")
    args = []
    for k, v in feeds.items():
        np.save(path / ("in_%s.npy" % k), v)
        args += ["--input", "%s=%s" % (k, path / ("in_%s.npy" % k))]
    (path / "o").mkdir(exist_ok=True)
    for f in (path / "o").glob("*.npy"):
        f.unlink()
    r = subprocess.run([arenac, "run", "-q", path / "m.onnx", *args, "--output-dir", path / "o", "--backend", backend],
                       capture_output=True, text=True)
    if r.returncode:
        return r.stderr.strip() or "exit %d" % r.returncode
    return [np.load(path / "o" / ("%d.npy" % i)) for i in range(len(m.graph.output))]


def differs(got, want, tolerance):
    for i, (g, w) in enumerate(zip(got, want)):
        if g.shape != w.shape:
            return "result %d is %s, expected %s" % (i, g.shape, w.shape)
        if g.dtype.kind == "U":
            if (g != w.astype(str)).any():
                return "result %d: %s, expected %s" % (i, g.ravel()[:9], w.ravel()[:9])
            continue
        g, w = g.astype(np.float64), w.astype(np.float64)
        far = ~np.isclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True)
        if far.any():
            at = np.unravel_index(np.argmax(np.where(far, np.abs(g - w), 0)), g.shape) if g.ndim else ()
            return "result %d at %s: %g, expected %g; %d of %d" % (i, at, g[at], w[at], far.sum(), g.size)
    return None


def run(cases, r):
    """Number of cases that agree; exits with all that do not."""
    good, bad, none = 0, [], []
    for name, domain, op, operands, attrs, results, tolerance, opset in cases:
        if not fnmatch.fnmatch(name, pattern):
            continue
        m = model(domain, op, operands, attrs, results, opset)
        feeds = {"i%d" % i: x.v for i, x in enumerate(operands) if isinstance(x, In)}
        try:
            want = theirs(m, feeds)
        except Exception as e:  # noqa: BLE001 - what it cannot do itself
            none.append("%s: ONNX Runtime: %s" % (name, str(e).replace("\n", " ")[:160]))
            continue
        got = ours(m, feeds)
        why = got if isinstance(got, str) else differs(got, want, tolerance)
        if why:
            bad.append("%s: %s" % (name, why))
        else:
            good += 1
    return good, bad, none


if __name__ == "__main__":
    import beside_ort_ml
    import beside_ort_ms

    good, bad, none = 0, [], []
    for seed in range(int(seeds)):
        for family in (beside_ort_ms, beside_ort_ml):
            r = np.random.default_rng(seed)
            g, b, n = run(family.cases(r, In), r)
            good, bad, none = good + g, bad + ["seed %d: %s" % (seed, x) for x in b], none + n
    print("\n".join(sorted(set(none)) + bad))
    print("%d agree, %d do not" % (good, len(bad)))
    sys.exit(bool(bad))
