"""marks.py - writes the values of ONNX Runtime in every tensor of a model as marks for `arenac run --taps`. It adds
every result
to the outputs of a copy of the model, runs that, and writes taps.json. usage: marks.py MODEL X.npy"""
import json
import sys

import numpy as np
import onnx
import onnxruntime

model = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1]))
known = {o.name for o in model.graph.output}
for v in model.graph.value_info:
    if v.name not in known:
        model.graph.output.append(v)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
names = [o.name for o in session.get_outputs()]
value = dict(zip(names, session.run(None, {session.get_inputs()[0].name: np.load(sys.argv[2])})))
marks = []
for k, node in enumerate(model.graph.node):
    for name in node.output:
        v = value[name]
        marks.append({"node": k, "type": node.op_type, "tensor": name, "shape": list(v.shape), "dtype": str(v.dtype),
                      "sum": float(v.sum()), "abs_max": float(np.abs(v).max()),
                      "first": [float(e) for e in v.flat[:8]]})
with open("taps.json", "w", encoding="utf-8") as f:
    json.dump(marks, f)
print(len(marks), "marks")
