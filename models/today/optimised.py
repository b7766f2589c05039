"""Models as ONNX Runtime's optimiser and its quantiser leave them.

    optimised.py DIR MODEL.onnx...        as trees.py: NAME.opt, NAME.dyn (dynamic), NAME.qop (QLinear operators)

Needs onnxruntime and onnx from PyPI. Inputs are random; free dimensions are 2 (a first one: 1), or DIM=N in the
environment.
"""
import os
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization as q

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": bool,
         "tensor(double)": np.float64, "tensor(uint8)": np.uint8, "tensor(float16)": np.float16}


def feeds(session, r):
    f = {}
    for x in session.get_inputs():
        dims = [d if isinstance(d, int) else int(os.environ.get(d, 2 if i else 1)) for i, d in enumerate(x.shape)]
        t = TYPES[x.type]
        f[x.name] = (r.standard_normal(dims) if np.issubdtype(t, np.floating) else r.integers(0, 2, dims)).astype(t)
    return f


def plain(path):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 4
    return ort.InferenceSession(str(path), o, providers=["CPUExecutionProvider"])


def save(name, path, f):
    for i, x in enumerate(plain(path).get_inputs()):
        np.save(out / ("%s.x%02d.npy" % (name, i)), f[x.name])
    for i, y in enumerate(plain(path).run(None, f)):
        np.save(out / ("%s.y%d.npy" % (name, i)), y)
    print(name)


class Reader(q.CalibrationDataReader):
    def __init__(self, f):
        self.left = [f]

    def get_next(self):
        return self.left.pop() if self.left else None


for source in map(pathlib.Path, sys.argv[2:]):
    try:
        f = feeds(plain(source), np.random.default_rng(1))
    except Exception as e:  # noqa: BLE001
        print(source.stem, str(e).split("\n")[0][:120])
        continue
    for kind in ("opt", "dyn", "qop"):
        name = "%s.%s" % (source.stem, kind)
        path = out / (name + ".onnx")
        try:
            if kind == "opt":
                o = ort.SessionOptions()
                o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
                o.optimized_model_filepath = str(path)
                o.log_severity_level = 4
                ort.InferenceSession(str(source), o, providers=["CPUExecutionProvider"])
            elif kind == "dyn":
                q.quantize_dynamic(source, path)
            else:
                q.quantize_static(source, path, Reader(f), quant_format=q.QuantFormat.QOperator)
            save(name, path, f)
        except Exception as e:  # noqa: BLE001
            print(name, str(e).split("\n")[0][:120])
            path.unlink(missing_ok=True)
