"""Models that `arenac convert` wrote as ONNX, in the eyes of the onnx package: its checker with shape inference, and
its reference evaluator beside arenac's own run of the ONNX file and of the text form of the same model.

  check_export.py ARENAC FOLDER     holds NAME.onnx and NAME.ag; exits 77 without the onnx package"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnx.reference
except ImportError:
    print("skipped: onnx is missing: install onnx from PyPI")
    sys.exit(77)

bad = 0
random = np.random.default_rng(5)
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.onnx")):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    feeds = {}
    for i in model.graph.input:
        d = onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        shape = [n.dim_value for n in i.type.tensor_type.shape.dim]
        feeds[i.name] = (random.standard_normal(shape) if d.kind == "f" else
                         random.integers(0, 2 if d.kind == "b" else 100, shape)).astype(d)
    with tempfile.TemporaryDirectory() as t:
        given = []
        for k, x in enumerate(feeds.values()):
            np.save(f"{t}/in{k}.npy", x)
            given += ["--input", f"{k}={t}/in{k}.npy"]
        runs = {"reference": onnx.reference.ReferenceEvaluator(model).run(None, feeds)}
        for m in (path, path.with_suffix(".ag")):
            subprocess.run([sys.argv[1], "run", "-q", m, *given, "--backend", "eval", "--output-dir", f"{t}/out"],
                           check=True, stdout=subprocess.DEVNULL)
            runs[m.name] = [np.load(f"{t}/out/{k}.npy") for k in range(len(model.graph.output))]
    # the reference leaves out the last of each window
    sums = {o for n in model.graph.node if n.op_type == "LRN" for o in n.output}
    for n in model.graph.node:  # in order: what is made from them, too
        sums |= set(n.output) if sums & set(n.input) else set()
    want = runs.pop(path.with_suffix(".ag").name)
    for who, got in runs.items():
        for k, y in enumerate(got):
            if who == "reference" and model.graph.output[k].name in sums:
                continue
            y = np.asarray(y)
            far = np.abs(y.astype(float) - want[k].astype(float)).max() if y.shape == want[k].shape and y.size else 0
            most = max(np.abs(want[k].astype(float)).max(), 1e-3) if y.size else 1
            # quantised: a rounding apart in each layer
            whole = want[k].dtype.kind in "iu" and want[k].dtype.itemsize < 4
            allowed = max(1, 0.08 * most) if whole else 1e-5 * most
            if y.shape != want[k].shape or y.dtype != want[k].dtype or not far <= allowed:
                print(f"{path.name}, {who}: output {k} '{model.graph.output[k].name}' {y.dtype}{list(y.shape)}, "
                      f"not {want[k].dtype}{list(want[k].shape)}: {far} of {most}")
                bad = 1
    print(path.name, "compared,", len(model.graph.node), "nodes")
sys.exit(bad)
