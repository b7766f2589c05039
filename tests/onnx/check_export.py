"""Checks models that `arenac convert` wrote as ONNX with the onnx package: its checker with shape inference, which must
find no lower operator set that suffices, and its reference evaluator and ONNX Runtime compared with arenac's run of the
ONNX file and of the text form of the same model. ONNX Runtime also runs it at its default settings.

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
try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
except ImportError:
    onnxruntime = None
    print("skipped: onnxruntime is missing: install onnxruntime from PyPI")


def with_opset(model, version):
    other = onnx.ModelProto()
    other.CopyFrom(model)
    other.opset_import[0].version = version
    return other


def lower_would_do(model):
    """True if the model is also correct with the next lower operator set."""
    try:
        onnx.checker.check_model(with_opset(model, model.opset_import[0].version - 1), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


LEAST = 13  # AC_ONW_LEAST
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
        if model.opset_import[0].version > LEAST and lower_would_do(model):
            print(f"{path.name}: operator set {model.opset_import[0].version} is higher than it has to be")
            bad = 1
        evaluator = onnx.reference.ReferenceEvaluator(with_opset(model, 21))  # it lacks some of older sets
        runs = {"reference": evaluator.run(None, feeds)}
        if onnxruntime:
            try:
                onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, feeds)
                # without VNNI its sums of bytes saturate; its optimisations make them of what the file says
                plain = onnxruntime.SessionOptions()
                plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
                session = onnxruntime.InferenceSession(str(path), plain, providers=["CPUExecutionProvider"])
                runs["ONNX Runtime"] = session.run(None, feeds)
            except Exception as e:
                if "NOT_IMPLEMENTED" not in str(e) or path.stem != "every":  # every: operators that it lacks, too
                    print(f"{path.name}: ONNX Runtime: {str(e)[:300]}")
                    bad = 1
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
