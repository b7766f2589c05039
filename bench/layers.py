#!/usr/bin/env python3
"""Single layers of known networks: generated code compared with three libraries, in one process, turn by turn.

    bench/layers.py                          all layers below, one thread; needs onnx, numpy and the libraries
    bench/layers.py --only grouped --rounds 20
    bench/layers.py --arenac OLD/arenac --arenac build/arenac      two compilers beside each other; repeat
    bench/layers.py --peers ort,openvino     without LiteRT; a library that is not installed is left out
    bench/layers.py --make; bench/layers.py --made --only YOLO --rows rows.json      make all first, then time in parts

Each layer is a small ONNX model, made from a seed. It is compiled to a shared library, which is loaded into this
process; ONNX Runtime has its tensors bound before. For LiteRT the layer is a TFLite file besides, channels last
(bench/layers_tflite.py; needs tensorflow), and the generated code that stands beside it is that of the same file. A
round runs each program for some milliseconds; the figure of a program is its least time over all rounds, so that load
on the machine hits all alike. Compare figures of one run only. `worst` is the larger of both ratios: to the faster of
the libraries that read ONNX, and to LiteRT. A library whose result is further than 2 % of the largest value from that
of the generated code (one that saturates sums of 8-bit products, for example) is marked with * and does not count. Ends
with the layers that a library runs faster, and their number as status (at most 100).
"""
import argparse
import ctypes
import importlib.util
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import Net  # noqa: E402  (a file beside this one)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
F32, I8, U8 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8


def conv(shape, o, k, groups=1, **attrs):
    """A convolution of `shape` [N,C,...] with its bias."""
    def make(n):
        k_all = [k] * (len(shape) - 2) if isinstance(k, int) else list(k)
        dilations = attrs.get("dilations", [1] * len(k_all))
        pads = attrs.pop("pads", [(a - 1) * d // 2 for a, d in zip(k_all, dilations)] * 2)
        y = n.op("Conv", "x", n.normal(o, shape[1] // groups, *k_all), n.normal(o, scale=0.05), kernel_shape=k_all,
                 group=groups, pads=pads, **attrs)
        return shape, F32, y
    return make


def then(act, make):
    def both(n):
        shape, dtype, y = make(n)
        return shape, dtype, n.act(y, act)
    return both


def linear(rows, depth, o, act=None):
    def make(n):
        y = n.linear("x", depth, o)
        return (1, rows, depth), F32, n.act(y, act)
    return make


def fire(size, squeeze, expand):
    """SqueezeNet: a 1x1 and a 3x3 convolution of one input, joined."""
    def make(n):
        y = n.conv("x", squeeze, expand, 1), n.conv("x", squeeze, expand, 3)
        return (1, squeeze, size, size), F32, n.op("Concat", *y, axis=1)
    return make


def integer(n, *shape):
    return n.const(n.random.randint(-127, 128, shape).astype(np.int8))


def matmul_integer(rows, depth, o):
    def make(n):
        y = n.op("MatMulInteger", "x", integer(n, depth, o), n.const(np.uint8(117)))
        return (rows, depth), U8, n.op("Mul", n.op("Cast", y, to=F32), n.const(np.float32(0.002)))
    return make


def dynamic(rows, depth, o):
    """The nodes that quantize_dynamic writes for a MatMul."""
    def make(n):
        q, scale, zero = n.op("DynamicQuantizeLinear", "x", outputs=3)
        y = n.op("Cast", n.op("MatMulInteger", q, integer(n, depth, o), zero), to=F32)
        y = n.op("Mul", y, n.op("Mul", scale, n.const(np.float32(0.01))))
        return (rows, depth), F32, n.op("Add", y, n.normal(o, scale=0.05))
    return make


def qdq(op, shape, w, per_channel=True, **attrs):
    """QDQ as quantize_static writes it: int8 activations and weights, an int32 bias. x and y are int8."""
    def make(n):
        o, depth = w[0], int(np.prod(w[1:]))
        scale = (np.full(o, 0.004) if per_channel else np.float32(0.004))
        zeros = np.zeros(o, np.int8) if per_channel else np.int8(0)
        x = n.op("DequantizeLinear", "x", n.const(np.float32(0.02)), n.const(np.int8(3)))
        axis = {"axis": 0} if per_channel else {}
        wq = n.op("DequantizeLinear", integer(n, *w), n.const(np.asarray(scale, np.float32)), n.const(zeros), **axis)
        bias = n.const(n.random.randint(-9999, 9999, o).astype(np.int32))
        bq = n.op("DequantizeLinear", bias, n.const(np.asarray(scale * 0.02, np.float32)),
                  n.const(zeros.astype(np.int32)), **axis)
        y = n.op(op, x, wq, bq, **attrs)
        y_scale = np.float32(0.02 * 0.004 * 74 * 74 * depth ** 0.5 / 50)
        return shape, I8, n.op("QuantizeLinear", y, n.const(y_scale), n.const(np.int8(-2)))
    return make


def recurrent(op, gates, steps, inputs, state):
    def make(n):
        w, r = n.normal(1, gates * state, inputs), n.normal(1, gates * state, state, scale=state ** -0.5)
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        bias = n.normal(1, 2 * gates * state, scale=0.05)
        outputs = 2 if op == "GRU" else 3
        return (steps, 1, inputs), F32, n.op(op, "x", w, r, bias, outputs=outputs, hidden_size=state, **more)[0]
    return make


def attention(tokens, heads, size):
    """From one tensor of queries, keys and values to the joined heads."""
    def make(n):
        x = n.op("Reshape", "x", n.ints(1, tokens, 3, heads, size))
        x = n.op("Split", n.op("Transpose", x, perm=[2, 0, 3, 1, 4]), axis=0, outputs=3, num_outputs=3)
        q, k, v = (n.op("Squeeze", a, n.ints(0)) for a in x)
        s = n.op("MatMul", n.op("Mul", q, n.const(np.float32(size ** -0.5))), n.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = n.op("MatMul", n.op("Softmax", s, axis=-1), v)
        y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.ints(1, tokens, heads * size))
        return (1, tokens, 3 * heads * size), F32, y
    return make


def top(rows, width, k):
    def make(n):
        values, _ = n.op("TopK", "x", n.ints(k), outputs=2)
        return (rows, width), F32, values
    return make


def transposed(shape, o, k, stride):
    def make(n):
        y = n.op("ConvTranspose", "x", n.normal(shape[1], o, k, k), n.normal(o, scale=0.05), kernel_shape=[k, k],
                 strides=[stride, stride])
        return shape, F32, y
    return make


def trees(rows, count, depth, features):
    """A forest of complete trees, as exporters write it: the sum of a leaf of each."""
    def make(n):
        inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
        at = np.arange(nodes)
        leaf = at >= inner
        one = {"nodes_nodeids": at, "nodes_featureids": None, "nodes_values": None,
               "nodes_modes": np.where(leaf, "LEAF", "BRANCH_LEQ"),
               "nodes_truenodeids": np.where(leaf, 0, 2 * at + 1), "nodes_falsenodeids": np.where(leaf, 0, 2 * at + 2)}
        all_trees = {k: np.tile(v, count).tolist() for k, v in one.items() if v is not None}
        all_trees.update(
            nodes_treeids=np.repeat(np.arange(count), nodes).tolist(),
            nodes_featureids=np.where(np.tile(leaf, count), 0, n.random.randint(0, features, count * nodes)).tolist(),
            nodes_values=np.where(np.tile(leaf, count), 0.0, n.random.uniform(-1, 1, count * nodes)).tolist(),
            target_treeids=np.repeat(np.arange(count), inner + 1).tolist(),
            target_nodeids=np.tile(at[leaf], count).tolist(), target_ids=[0] * (count * (inner + 1)),
            target_weights=n.random.normal(0, 0.1, count * (inner + 1)).tolist())
        y = n.op("TreeEnsembleRegressor", "x", domain="ai.onnx.ml", n_targets=1, **all_trees)
        return (rows, features), F32, y
    return make


COPIES = 4
LAYERS = [
    ("RegNetY-400M grouped 3x3, 208 of 8", conv((1, 208, 14, 14), 208, 3, 26)),
    ("RegNetX-400M grouped 3x3, 160 of 16", conv((1, 160, 14, 14), 160, 3, 10)),
    ("RegNetX-1.6G grouped 3x3, 168 of 24", conv((1, 168, 28, 28), 168, 3, 7)),
    ("RegNetX-3.2G grouped 3x3 stride 2, 192 of 48", conv((1, 192, 56, 56), 192, 3, 4, strides=[2, 2])),
    ("ResNeXt50 grouped 3x3, 128 of 4", conv((1, 128, 56, 56), 128, 3, 32)),
    ("ShuffleNet grouped 1x1, 240 of 60", conv((1, 240, 28, 28), 240, 1, 4)),
    ("wav2vec2 position, grouped 128 of 48", conv((1, 768, 99), 768, 128, 16, pads=[64, 64])),
    ("wav2vec2 feature 512, 3 stride 2", conv((1, 512, 799), 512, 3, strides=[2], pads=[0, 0])),
    ("R3D-18 3x3x3, 64", conv((1, 64, 4, 28, 28), 64, 3)),
    ("R3D-18 stem 3x7x7, 3 to 64", conv((1, 3, 8, 56, 56), 64, (3, 7, 7), strides=[1, 2, 2])),
    ("R(2+1)D 3x1x1, 144 to 64", conv((1, 144, 8, 28, 28), 64, (3, 1, 1))),
    ("DeepLabV3 3x3 dilated 12, 256", conv((1, 256, 33, 33), 256, 3, dilations=[12, 12])),
    ("DeepLabV3 ResNet 3x3 dilated 2, 256", conv((1, 256, 28, 28), 256, 3, dilations=[2, 2])),
    ("U-Net head 1x1, 64 to 1", conv((1, 64, 128, 128), 1, 1)),
    ("depth head 3x3, 32 to 1", conv((1, 32, 112, 112), 1, 3)),
    ("depth head 3x3, 32 to 2", conv((1, 32, 112, 112), 2, 3)),
    ("pitch 64x1, 1 to 32", conv((1, 1, 1024, 16), 32, (64, 1), pads=[31, 0, 32, 0])),
    ("vocoder end, 7, 32 to 1", conv((1, 32, 8000), 1, 7)),
    ("U-Net up 2x2 stride 2, 128 to 64", transposed((1, 128, 28, 28), 64, 2, 2)),
    ("YOLOv8n stem 3x3 stride 2", then("Silu", conv((1, 3, 320, 320), 16, 3, strides=[2, 2]))),
    ("YOLOv8n 3x3, 64", then("Silu", conv((1, 64, 40, 40), 64, 3))),
    ("YOLOv8n 1x1, 384 to 128", then("Silu", conv((1, 384, 20, 20), 128, 1))),
    ("NASNet depthwise 5x5, 264", conv((1, 264, 28, 28), 264, 5, 264)),
    ("NASNet depthwise 7x7 stride 2, 96", conv((1, 96, 56, 56), 96, 7, 96, strides=[2, 2])),
    ("MobileNetV3 depthwise 5x5, 120", then("HardSwish", conv((1, 120, 28, 28), 120, 5, 120))),
    ("depthwise 3x3 with a multiplier of 2, 32 to 64", conv((1, 32, 56, 56), 64, 3, 32)),
    ("MobileNetV3 1x1, 112 to 672", then("HardSwish", conv((1, 112, 14, 14), 672, 1))),
    ("SqueezeNet fire 64 and 64, concat", fire(55, 16, 64)),
    ("SqueezeNet fire 256 and 256, concat", fire(13, 64, 256)),
    ("ViT-B 197 x 768 x 3072", linear(197, 768, 3072)),
    ("ViT-B 197 x 3072 x 768", linear(197, 3072, 768)),
    ("Whisper tiny 500 x 384 x 1536, gelu", linear(500, 384, 1536, "Gelu")),
    ("GPT-2 1 x 768 x 3072", linear(1, 768, 3072)),
    ("MatMulInteger 128 x 768 x 768", matmul_integer(128, 768, 768)),
    ("MatMulInteger 1 x 768 x 3072", matmul_integer(1, 768, 3072)),
    ("dynamic quantisation 128 x 768 x 768", dynamic(128, 768, 768)),
    ("QDQ Gemm 64 x 768 x 768", qdq("Gemm", (64, 768), (768, 768), transB=1)),
    ("QDQ Gemm 64 x 512 x 512", qdq("Gemm", (64, 512), (512, 512), transB=1)),
    ("QDQ conv 3x3, 64", qdq("Conv", (1, 64, 28, 28), (64, 64, 3, 3), pads=[1, 1, 1, 1])),
    ("QDQ conv grouped 3x3, 128 of 16", qdq("Conv", (1, 128, 28, 28), (128, 16, 3, 3), pads=[1, 1, 1, 1], group=8)),
    ("QDQ conv depthwise 3x3 with a multiplier of 2, 32 to 64",
     qdq("Conv", (1, 32, 56, 56), (64, 1, 3, 3), pads=[1, 1, 1, 1], group=32)),
    ("QDQ conv depthwise 3x3, 144", qdq("Conv", (1, 144, 28, 28), (144, 1, 3, 3), pads=[1, 1, 1, 1], group=144)),
    ("LSTM 20 x 512, state 1024", recurrent("LSTM", 4, 20, 512, 1024)),
    ("GRU 20 x 256, state 512", recurrent("GRU", 3, 20, 256, 512)),
    ("attention 197 x 3 x 64", attention(197, 3, 64)),
    ("attention 128 x 12 x 64", attention(128, 12, 64)),
    ("ResNet18 3x3, 512 at 7x7", conv((1, 512, 7, 7), 512, 3)),
    ("VGG 3x3, 512 at 14x14", conv((1, 512, 14, 14), 512, 3)),
    ("TopK 8 of 64, 1024 rows", top(1024, 64, 8)),
    ("TopK 5 of 1000, 64 rows", top(64, 1000, 5)),
    ("forest, 100 trees of depth 8, 1 row", trees(1, 100, 8, 32)),
    ("forest, 100 trees of depth 8, 100 rows", trees(100, 100, 8, 32)),
]


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", action="append", metavar="FILE", help="compiler (default build/arenac); repeat")
    ap.add_argument("--also", action="append", default=[], metavar="OPTIONS",
                    help="a column more for the last compiler with these options; repeat")
    ap.add_argument("--target", default="native", help="as for arenac -t")
    ap.add_argument("--cc", default=os.environ.get("CC", "cc"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench", "layers"), help="models and libraries")
    ap.add_argument("--peers", default="ort,openvino,litert")
    ap.add_argument("--rounds", type=int, default=12)
    ap.add_argument("--secs", type=float, default=0.04, help="per program and round")
    ap.add_argument("--only", action="append", metavar="TEXT", help="layers whose name contains this; repeat")
    ap.add_argument("--make", action="store_true", help="make models and programs, time nothing")
    ap.add_argument("--made", action="store_true", help="time what --make made")
    ap.add_argument("--rows", metavar="FILE", help="keep rows there, and print those that are there already")
    ap.add_argument("--markdown", metavar="FILE", help="write the table there too")
    return ap.parse_args()


def write(make, path):
    """The model of one layer; the shape of its result is found by ONNX."""
    n = Net()
    shape, dtype, y = make(n)
    result = helper.make_tensor_value_info(y, F32, None) if n.nodes[-1].domain else onnx.ValueInfoProto(name=y)
    graph = helper.make_graph(n.nodes, "layer", [helper.make_tensor_value_info("x", dtype, shape)], [result], n.weights)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True)
    onnx.save(inferred, path)


def built(o, arenac, more, model, so):
    """Makes the shared library of a model; False and a message when that fails."""
    folder = so[:-3]
    os.makedirs(folder, exist_ok=True)
    c = os.path.join(folder, "net.c")
    if os.path.exists(so):
        os.remove(so)
    for step in ([arenac, "compile", "-q", model, "--name", "net", "-t", o.target, "--weights", "asm", "-o", c] + more,
                 [o.cc, "-O2", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-I" + folder, c, os.path.join(HERE, "time_net.c"),
                  "-o", so]):
        r = subprocess.run(step, capture_output=True, text=True)
        if r.returncode:
            print("%s: %s" % (os.path.basename(model), (r.stderr or r.stdout).strip()[:300]))
            return False
    return True


def generated(so):
    """A function of seconds that returns the minimum milliseconds of a run. Its calls use copies of the library in
    turn: the physical pages of its weights account for up to a fifth of the time, and stay the same while the file is
    cached."""
    ms, run = (ctypes.c_double * 4)(), []
    for i in range(COPIES):
        copy = "%s.%d" % (so, i)
        shutil.copyfile(so, copy)
        library = ctypes.CDLL(copy)
        library.net_time.argtypes = [ctypes.c_double, ctypes.c_double * 4]
        run.append(library.net_time)
        os.remove(copy)
    turn = itertools.cycle(run)
    return lambda secs: ms[1] if next(turn)(secs, ms) == 0 else math.inf


def least(run, secs):
    best, until = math.inf, time.perf_counter() + secs
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > until:
            return best * 1e3


def noise(shape, dtype):
    random = np.random.RandomState(1)
    if dtype == np.float32:
        return random.uniform(-1, 1, shape).astype(dtype)
    return random.randint(np.iinfo(dtype).min, np.iinfo(dtype).max, shape).astype(dtype)


def sample(model):
    x = onnx.load(model).graph.input[0].type.tensor_type
    return noise([d.dim_value for d in x.shape.dim], helper.tensor_dtype_to_np_dtype(x.elem_type))


def onnx_runtime(model):
    import onnxruntime as ort
    opt = ort.SessionOptions()
    opt.intra_op_num_threads = opt.inter_op_num_threads = 1
    opt.log_severity_level = 3
    session = ort.InferenceSession(model, opt, providers=["CPUExecutionProvider"])
    x, binding = sample(model), session.io_binding()
    value, result = ort.OrtValue.ortvalue_from_numpy(x), session.run(None, {"x": x})[0]
    binding.bind_ortvalue_input("x", value)
    binding.bind_ortvalue_output(session.get_outputs()[0].name, ort.OrtValue.ortvalue_from_numpy(result.copy()))
    return lambda secs: least(lambda: session.run_with_iobinding(binding), secs), result


def openvino(model):
    import openvino as ov
    core = ov.Core()
    core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    request = core.compile_model(model, "CPU").create_infer_request()
    request.set_input_tensor(ov.Tensor(sample(model)))
    request.infer()
    return lambda secs: least(request.infer, secs), request.get_output_tensor(0).data.copy()


def litert_net(model):
    """An interpreter with room, and its input's details."""
    from ai_edge_litert import interpreter as tfl
    net = tfl.Interpreter(model_path=model, num_threads=1)
    net.allocate_tensors()
    return net, net.get_input_details()[0]


def tflite_sample(model):
    x = litert_net(model)[1]
    return noise(x["shape"], x["dtype"])


def litert(model):
    net, x = litert_net(model)
    net.set_tensor(x["index"], noise(x["shape"], x["dtype"]))
    net.invoke()
    return lambda secs: least(net.invoke, secs), net.get_tensor(net.get_output_details()[0]["index"])


# name, its module, its title, the file it reads, its function
PEERS = [("ort", "onnxruntime", "ORT", "onnx", onnx_runtime), ("openvino", "openvino", "OpenVINO", "onnx", openvino),
         ("litert", "ai_edge_litert", "LiteRT", "tflite", litert)]


def cpu():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown CPU"


def peers_of(o):
    have = []
    for p in PEERS:
        if p[0] not in o.peers.split(","):
            continue
        if importlib.util.find_spec(p[1]):
            have.append(p)
        else:
            print("%s is not installed, left out" % p[2])
    return have


def compute(compiler, model, x):
    """Stores the results of generated code for x next to the model."""
    folder = model + ".run"
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "x.npy"), x)
    step = [compiler, "run", "-q", model, "-t", "native", "-i", "0=" + os.path.join(folder, "x.npy")]
    r = subprocess.run(step + ["--output-dir", folder], capture_output=True, text=True)
    if r.returncode:
        print("%s: %s" % (os.path.basename(model), (r.stderr or r.stdout).strip()[:300]))


def is_off(model, result):
    """Is a library's result another one than that of the generated code?"""
    path = os.path.join(model + ".run", "0.npy")
    if not os.path.exists(path):
        return False
    want = np.load(path).astype(np.float64)
    return np.abs(result.reshape(want.shape) - want).max() > 0.02 * np.abs(want).max()


def make_layer(o, make, columns, folder, tflite):
    """The files of a layer: layer.onnx, layer.tflite where there is one, a library for each of them and each column."""
    os.makedirs(folder, exist_ok=True)
    model = os.path.join(folder, "layer.onnx")
    write(make, model)
    if tflite and not os.path.exists(os.path.join(folder, "layer.tflite")):
        import layers_tflite  # noqa: E402  (TensorFlow takes seconds to load)
        data = layers_tflite.convert(model)
        if data:
            with open(os.path.join(folder, "layer.tflite"), "wb") as f:
                f.write(data)
    for form, of in (("onnx", sample), ("tflite", tflite_sample)):
        model = os.path.join(folder, "layer." + form)
        if not os.path.exists(model):
            continue
        for i, (_, compiler, more) in enumerate(columns):
            built(o, compiler, more, model, os.path.join(folder, "%s-%d.so" % (form, i)))
        if form == "onnx" or tflite:  # the sample's shape is LiteRT's to say
            compute(columns[0][1], model, of(model))


def time_layer(o, columns, peers, folder):
    """{"ms": {column, or column + ", TFLite", or title of a library: least milliseconds}, "off": [title of a library
    that computes something else]}"""
    run, off = {}, []
    for form in ("onnx", "tflite"):
        for i, (label, _, _) in enumerate(columns):
            so = os.path.join(folder, "%s-%d.so" % (form, i))
            if os.path.exists(so):
                run[label + (", TFLite" if form == "tflite" else "")] = generated(so)
        model = os.path.join(folder, "layer." + form)
        for _, _, title, reads, peer in peers:
            if os.path.exists(model) and reads == form:
                try:
                    run[title], result = peer(model)
                    off += [title] if is_off(model, result) else []
                except RuntimeError as e:  # OpenVINO has no trees
                    print("%s: %s" % (title, str(e).strip().splitlines()[-1]))
    ms = {x: math.inf for x in run}
    for _ in range(o.rounds):
        for x in run:
            ms[x] = min(ms[x], run[x](o.secs))
    return {"ms": {x: y for x, y in ms.items() if y < math.inf}, "off": off}


def ratio(row, label, peers):
    """How long a column takes, compared with the fastest library that reads the same file: the worse of both files."""
    ms, worst = row["ms"], []
    for form, more in (("onnx", ""), ("tflite", ", TFLite")):
        best = [ms[p[2]] for p in peers if p[3] == form and p[2] in ms and p[2] not in row["off"]]
        if best and label + more in ms:
            worst.append(ms[label + more] / min(best))
    return max(worst, default=None)


def table(rows, labels, peers):
    """Lines of Markdown, and the slower layers of the last column as (ratio, name)."""
    names = [x for form, more in (("onnx", ""), ("tflite", ", TFLite"))
             for x in ([y + more for y in labels] if any(p[3] == form for p in peers) else []) +
             [p[2] for p in peers if p[3] == form]]
    lines = ["| layer, ms | " + " | ".join(names + ["%s, worst" % x for x in labels]) + " |",
             "|" + "---|" * (1 + len(names) + len(labels))]
    ratios, slower = {x: [] for x in labels}, []
    for name, row in rows.items():
        ms, off = row["ms"], row["off"]
        cells = [name] + ["%.3f%s" % (ms[x], "*" if x in off else "") if x in ms else "-" for x in names]
        for x in labels:
            r = ratio(row, x, peers)
            cells.append("-" if r is None else "%.2f" % r)
            if r is not None:
                ratios[x].append(r)
                if r > 1 and x == labels[-1]:
                    slower.append((r, name))
        lines.append("| " + " | ".join(cells) + " |")
    mean = [math.exp(sum(map(math.log, ratios[x])) / max(1, len(ratios[x]))) for x in labels]
    lines.append("| geometric mean |" + " |" * len(names) + "".join(" %.2f |" % m for m in mean))
    return lines, sorted(slower, reverse=True)


def main():
    o = options()
    compilers = o.arenac or [os.path.join(ROOT, "build", "arenac")]
    columns = [("arenac" if not i else "arenac-%d" % (i + 1), c, []) for i, c in enumerate(compilers)]
    columns += [(a, compilers[-1], a.split()) for a in o.also]
    peers = peers_of(o)
    rows = {}
    if o.rows and os.path.exists(o.rows):
        with open(o.rows) as f:
            rows = json.load(f)
    for number, (name, make) in enumerate(LAYERS):
        if o.only and not any(x.lower() in name.lower() for x in o.only):
            continue
        folder = os.path.join(o.work, "%02d" % number)
        if not o.made:
            make_layer(o, make, columns, folder, any(p[3] == "tflite" for p in peers))
        if o.make:
            continue
        rows[name] = time_layer(o, columns, peers, folder)
        print("%s: %s" % (name, ", ".join("%s %.3f" % x for x in rows[name]["ms"].items())), flush=True)
    if o.make:
        return 0
    if o.rows:
        with open(o.rows, "w") as f:
            json.dump(rows, f, indent=1)
    rows = {name: rows[name] for name, _ in LAYERS if name in rows}
    lines, slower = table(rows, [c[0] for c in columns], peers)
    print("\n%s, one thread, least of %d rounds\n\n%s" % (cpu(), o.rounds, "\n".join(lines)))
    print("\n%d of %d layers slower than a library: %s" %
          (len(slower), len(rows), ", ".join("%s (%.2f)" % (n, r) for r, n in slower) or "none"))
    if o.markdown:
        with open(o.markdown, "w") as f:
            f.write("\n".join(lines) + "\n")
    return min(len(slower), 100)


if __name__ == "__main__":
    sys.exit(main())
