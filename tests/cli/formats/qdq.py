"""Random QDQ models: two products of dequantised bytes with the operators that quantisers insert between them, through
ONNX Runtime (its
optimisations off: floats, as the file says) and through arenac with --qdq integer and exact. All of a result are within
one step of each other, and few of them differ; and arenac reports that it used integer products.

    qdq.py ARENAC DIR BACKEND MODELS
"""
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

arenac, folder, backend, models = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
TYPES = {"i8": np.int8, "u8": np.uint8}


class Net:
    def __init__(self, seed):
        self.r, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def name(self):
        return "t%d" % (len(self.nodes) + len(self.weights))

    def const(self, v):
        name = self.name()
        self.weights.append(numpy_helper.from_array(np.asarray(v), name))
        return name

    def op(self, kind, *inputs, **attrs):
        name = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attrs))
        return name

    def byte(self, kind, *shape):
        t = TYPES[kind]
        return self.r.integers(np.iinfo(t).min, np.iinfo(t).max + 1, shape).astype(t)

    def real(self, x, scale, kind):
        return self.op("DequantizeLinear", x, self.const(np.float32(scale)), self.const(self.byte(kind)))

    def quantised(self, x, scale, kind):
        return self.op("QuantizeLinear", x, self.const(np.float32(scale)), self.const(self.byte(kind)))

    def matrix(self, shape, axis):
        """Weights, with a scale each along axis or one; the zero point is what their type has in the middle, or any."""
        kind = self.r.choice(["i8", "i8", "u8"])
        many = self.r.random() < 0.5
        zero = self.byte(kind, *([shape[axis]] if many else []))
        if self.r.random() < 0.6:
            zero = np.full_like(zero, 128 if kind == "u8" else 0)
        scale = self.r.uniform(0.002, 0.01, shape[axis] if many else ()).astype(np.float32)
        return self.op("DequantizeLinear", self.const(self.byte(kind, *shape)), self.const(scale), self.const(zero),
                       **({"axis": axis} if many else {}))

    def bias(self, n):
        return self.op("DequantizeLinear", self.const(self.r.integers(-20000, 20000, n).astype(np.int32)),
                       self.const(np.float32(1e-4)), self.const(np.int32(0)))

    def conv(self, x, c, spatial):
        group = int(self.r.choice([1, 1, 2, c])) if c % 2 == 0 else 1
        o, k = group * int(self.r.integers(1, 9)), self.r.integers(1, 4, spatial)
        more = [self.bias(o)] if self.r.random() < 0.7 else []
        y = self.op("Conv", x, self.matrix((o, c // group, *k), 0), *more, group=group,
                    pads=[int(p) for p in (*(k // 2), *(k // 2))],
                    strides=[int(s) for s in self.r.integers(1, 3, spatial)])
        return y, o, (c // group) * int(np.prod(k))

    def dense(self, x, k, rank):
        n, form = int(self.r.integers(1, 40)), self.r.integers(3 if rank == 2 else 1)
        if form == 0:
            y = self.op("MatMul", x, self.matrix((k, n), 1))
            y = self.op("Add", y, self.bias(n)) if self.r.random() < 0.5 else y
        else:
            more = [self.bias(n)] if self.r.random() < 0.7 else []
            shape, axis = ((n, k), 0) if form == 1 else ((k, n), 1)
            y = self.op("Gemm", x, self.matrix(shape, axis), *more, transB=2 - int(form))
        return y, n, k


def make(seed):
    n = Net(seed)
    kind, images, c = n.r.choice(["i8", "u8"]), n.r.random() < 0.5, int(n.r.integers(1, 40))
    spatial = int(n.r.integers(1, 3))
    shape = (int(n.r.integers(1, 3)), c) + tuple(int(d) for d in n.r.integers(4, 9, spatial))
    if not images:
        shape = (*(int(d) for d in n.r.integers(1, 9, spatial)), c)
    x, step = "x", 0.02
    for _ in range(2):
        v = n.real(x, step, kind)
        v, c, depth = n.conv(v, c, spatial) if images else n.dense(v, c, len(shape))
        if n.r.random() < 0.5:
            v = n.op("Relu", v)
        kind = n.r.choice(["i8", "u8"])
        step = float(np.float32(step * 0.006 * 80 * depth ** 0.5))
        x = n.quantised(v, step, kind)
    info = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(TYPES["i8"])), shape)]
    first = n.nodes[0].input[2]  # the input has the type of its zero point
    zero = next(w for w in n.weights if w.name == first)
    info[0].type.tensor_type.elem_type = zero.data_type
    graph = helper.make_graph(n.nodes, "g", info, [helper.make_empty_tensor_value_info(x)], n.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return model, n.byte("i8" if zero.data_type == onnx.TensorProto.INT8 else "u8", *shape)


def theirs(model, x):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads, o.log_severity_level = 1, 4
    return ort.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def ours(how):
    r = subprocess.run([arenac, "run", "-q", folder / "qdq.onnx", "--qdq", how, "--input", "x=%s" % (folder / "x.npy"),
                        "--output-dir", folder / "qdq_out", "--backend", backend], capture_output=True, text=True)
    if r.returncode:
        sys.exit("qdq.py: %s" % r.stderr)
    return np.load(folder / "qdq_out" / "0.npy")


(folder / "qdq_out").mkdir(exist_ok=True)
all_of, other, taken = 0, 0, 0
for seed in range(models):
    model, x = make(seed)
    onnx.save(model, folder / "qdq.onnx")
    np.save(folder / "x.npy", x)
    want = theirs(model, x).astype(int)
    plan = subprocess.run([arenac, "plan", folder / "qdq.onnx"], capture_output=True, text=True, check=True).stdout
    if "products of dequantised bytes run by integer kernels" not in plan or " in floats" in plan:
        sys.exit("qdq.py: model %d: a product is left in floats\n%s" % (seed, plan[:2000]))
    for how in ("integer", "exact"):
        got = ours(how).astype(int)
        # the second product reads results of the first, which may be a step off themselves
        if got.shape != want.shape or abs(got - want).max(initial=0) > 2:
            sys.exit("qdq.py: model %d, --qdq %s: differs by %d" % (seed, how, abs(got - want).max(initial=0)))
        all_of, other = all_of + want.size, other + (got != want).sum()
    taken += 2
print("%d models, %d products: %d of %d results are a step off" % (models, taken, other, all_of))
sys.exit(bool(other > all_of / 100))
