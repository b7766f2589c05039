#!/usr/bin/env python3
"""Generated CUDA kernels against ONNX Runtime and PyTorch (cuDNN, cuBLAS) on the GPU of this machine.

    bench/cuda.py                        models and layers, f32, int8 by tensor cores
    bench/cuda.py --tensor-cores tf32    floats by tensor cores too, in the libraries as well
    bench/cuda.py --models "" --only 3x3 some layers
    bench/cuda.py --check                compiles every kernel and program, runs none: needs no GPU

Models are those of bench/models.py, compared with ONNX Runtime with its CUDA provider. Layers are single convolutions
and products of matrices, compared with PyTorch. Each figure is milliseconds of a run with everything on the device, the
least mean of many; arenac's is that of its CUDA graph. The ratio to the library ends the row, below 1 is faster, and
the geometric means end the table. First outputs are compared: the largest difference, as a share of the largest value,
comes after the ratio.

Without a driver or a GPU the script says so and ends with 77. NVRTC is needed (docs/cuda.md); onnxruntime-gpu and torch
are left out where the interpreter (--python) does not have them. Nothing is installed.
"""
import argparse
import ctypes
import json
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MODELS = "mobilenetv2,resnet18,resnet50,squeezenet,efficientnet_b0,vit_tiny,bert4"
TARGETS = (75, 80, 86, 89, 90, 100)
NO_GPU = 77

# name, operands and node of the text form, the same for PyTorch, multiply-adds; NCHW there
CONV = ("import torch.nn.functional as F\nx=r({n},{c},{h},{h}); w=r({o},{c},{k},{k})\n"
        "f=lambda: F.conv2d(x,w,padding={p},stride={s})")
LAYERS = []


def conv(n, h, c, o, k, s=1):
    out = (h + s - 1) // s
    LAYERS.append(("conv %dx%d %d->%d, %dx%d, batch %d" % (k, k, c, o, h, h, n),
                   "input x: f32[%d,%d,%d,%d]\n  const w: f32[%d,%d,%d,%d] = random 1" % (n, h, h, c, o, k, k, c),
                   "conv_2d(x, w) padding=same stride_h=%d stride_w=%d" % (s, s),
                   CONV.format(n=n, c=c, h=h, o=o, k=k, p=k // 2, s=s), n * out * out * o * c * k * k))


def depthwise(n, h, c, k):
    LAYERS.append(("depthwise %dx%d %d, %dx%d, batch %d" % (k, k, c, h, h, n),
                   "input x: f32[%d,%d,%d,%d]\n  const w: f32[1,%d,%d,%d] = random 1" % (n, h, h, c, k, k, c),
                   "depthwise_conv_2d(x, w) padding=same",
                   "import torch.nn.functional as F\nx=r(%d,%d,%d,%d); w=r(%d,1,%d,%d)\n"
                   "f=lambda: F.conv2d(x,w,padding=%d,groups=%d)"
                   % (n, c, h, h, c, k, k, k // 2, c), n * h * h * c * k * k))


def dense(m, k, n):
    LAYERS.append(("matmul %dx%dx%d" % (m, k, n),
                   "input x: f32[%d,%d]\n  const w: f32[%d,%d] = random 1" % (m, k, n, k),
                   "fully_connected(x, w)",
                   "x=r(%d,%d); w=r(%d,%d)\nf=lambda: x@w.t()" % (m, k, n, k), m * n * k))


def scores(b, t, d):
    LAYERS.append(("attention scores %d x %dx%dx%d" % (b, t, d, t),
                   "input x: f32[%d,%d,%d]\n  input w: f32[%d,%d,%d]" % (b, t, d, b, t, d),
                   "batch_matmul(x, w) adj_y=true",
                   "x=r(%d,%d,%d); w=r(%d,%d,%d)\nf=lambda: x@w.transpose(1,2)" % (b, t, d, b, t, d),
                   b * t * t * d))


for args in ((1, 56, 64, 64, 3), (32, 56, 64, 64, 3), (32, 28, 128, 128, 3), (32, 14, 256, 256, 3),
             (32, 56, 64, 256, 1), (32, 14, 1024, 256, 1), (32, 224, 3, 64, 7, 2)):
    conv(*args)
depthwise(32, 56, 144, 3)
depthwise(32, 28, 240, 5)
for args in ((128, 768, 3072), (1024, 1024, 1024), (4096, 4096, 4096), (1, 4096, 4096)):
    dense(*args)
scores(96, 197, 64)

TORCH = r"""
import json, sys, time, torch
cores, secs = sys.argv[1], float(sys.argv[2])
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = cores == "tf32"
torch.backends.cudnn.benchmark = True
kind = {"f16": torch.float16, "bf16": torch.bfloat16}.get(cores, torch.float32)
def r(*shape):
    t = torch.rand(shape, device="cuda", dtype=kind)
    return t.to(memory_format=torch.channels_last) if len(shape) == 4 else t
exec(sys.stdin.read())
with torch.no_grad():
    for i in range(5): f()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph): f()
    best, n, end = 1e30, 1, time.time() + secs
    while time.time() < end:
        t = time.time()
        for i in range(n): graph.replay()
        torch.cuda.synchronize()
        took = time.time() - t
        best = min(best, took / n)
        n = n * 2 if took < secs / 10 else n
print(json.dumps(best * 1e3))
"""

ORT = r"""
import json, sys, time, numpy, onnxruntime as ort
model, cores, secs, x_file, y_file = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5]
if "CUDAExecutionProvider" not in ort.get_available_providers(): sys.exit("onnxruntime without CUDA")
s = ort.InferenceSession(model, providers=[("CUDAExecutionProvider", {"use_tf32": int(cores == "tf32")})])
if s.get_providers()[0] != "CUDAExecutionProvider": sys.exit("the CUDA provider does not start")
x = s.get_inputs()[0]
kind = {"tensor(float)": numpy.float32, "tensor(int32)": numpy.int32, "tensor(int64)": numpy.int64}[x.type]
data = numpy.fromfile(x_file, kind).reshape(x.shape)
b = s.io_binding()
b.bind_ortvalue_input(x.name, ort.OrtValue.ortvalue_from_numpy(data, "cuda", 0))
b.bind_output(s.get_outputs()[0].name, "cuda")
best, n, end = 1e30, 1, time.time() + secs
for i in range(5): s.run_with_iobinding(b)
b.copy_outputs_to_cpu()[0].tofile(y_file)
while time.time() < end:
    t = time.time()
    for i in range(n): s.run_with_iobinding(b)
    b.synchronize_outputs()
    took = time.time() - t
    best = min(best, took / n)
    n = n * 2 if took < secs / 10 else n
print(json.dumps(best * 1e3))
"""


def say(text):
    print(text, flush=True)


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--target", help="cuda-smNN (default: this machine's GPU)")
    ap.add_argument("--tensor-cores", default="int8", choices=("off", "int8", "tf32", "bf16", "f16"))
    ap.add_argument("--models", default=MODELS, help="names of bench/models.py; empty: none")
    ap.add_argument("--no-layers", action="store_true")
    ap.add_argument("--only", default="", help="models and layers whose name contains this")
    ap.add_argument("--secs", type=float, default=1.0, help="per figure")
    ap.add_argument("--python", default=sys.executable, help="interpreter that has onnx, onnxruntime-gpu, torch")
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"))
    ap.add_argument("--cc", default=os.environ.get("CC", "cc"))
    ap.add_argument("--check", action="store_true", help="compile everything, run nothing")
    return ap.parse_args()


def gpu():
    """(name, compute capability) of the first GPU, or None and the reason."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, "no NVIDIA driver (libcuda.so.1)"
    device, major, minor, name = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(100)
    status = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0)
    if status:
        return None, "the driver answers with error %d" % status
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    cuda.cuDeviceGetName(name, 100, device)
    return (name.value.decode(), 10 * major.value + minor.value), None


def target_of(capability):
    """The newest target that the GPU runs."""
    return "cuda-sm%d" % max(t for t in TARGETS if t <= capability)


def command(cmd, **how):
    r = subprocess.run(cmd, capture_output=True, text=True, **how)
    said = (r.stderr or r.stdout).strip().split("\n") or [""]
    return r, said[-1 if r.returncode and "Traceback" in r.stderr else 0]


def build(o, model, folder):
    """A program that times `model`, and its image; None and a message when that fails."""
    os.makedirs(folder, exist_ok=True)
    runtime, base = os.path.join(ROOT, "runtime"), os.path.join(folder, "net")
    compile_it = [o.arenac, "compile", "-q", model, "--name", "net", "-t", o.target, "--weights", "asm"]
    if o.tensor_cores != "int8":
        compile_it += ["--tensor-cores", o.tensor_cores]
    for cmd in (compile_it + ["--emit", "cu,h", "-o", base],
                compile_it + ["--emit", o.image, "-o", base + "." + o.image],
                [o.cc, "-O2", "-std=gnu11", "-w", "-I" + folder, "-I" + runtime,
                 os.path.join(HERE, "time_cuda.c"), os.path.join(runtime, "arn_cuda.c"), "-x", "c", base + ".cu",
                 "-o", os.path.join(folder, "time_net"), "-ldl"]):
        r, text = command(cmd)
        if r.returncode:
            say("%s: %s" % (os.path.basename(model), text))
            return None, None
    return os.path.join(folder, "time_net"), base + "." + o.image


def sizes(folder):
    with open(os.path.join(folder, "net.h")) as f:
        return {k: int(v) for k, v in re.findall(r"#define NET_(IN\d|OUT0)_BYTES\s+(\d+)u", f.read())}


def ours(o, program, image, files):
    r, text = command([program, image, str(o.secs)] + files)
    if r.returncode:
        say("%s: %s" % (program, text))
        return None
    return float(re.search(r"graph_ms=([0-9.]+)", r.stdout).group(1))


def library(o, script, args, text=None):
    r, why = command([o.python, "-c", script] + args, input=text)
    if r.returncode:
        say("library left out: %s" % why)
        return None
    return json.loads(r.stdout.strip().split("\n")[-1])


def write_floats(path, n):
    """Numbers from 0 to 1, the same ones everywhere."""
    import array
    state, data = 1, array.array("f")
    for _ in range(n):
        state = (state * 1103515245 + 12345) & 0x7fffffff
        data.append(state / 2147483648)
    with open(path, "wb") as f:
        data.tofile(f)


def difference(a, b):
    """Largest difference of two files of floats, as a share of the largest value."""
    import array
    x, y = array.array("f"), array.array("f")
    x.frombytes(open(a, "rb").read())
    y.frombytes(open(b, "rb").read())
    if len(x) != len(y):
        return math.nan
    return max(map(lambda p, q: abs(p - q), x, y)) / max(max(map(abs, y)), 1e-30)


def bench_model(o, name):
    model = os.path.join(o.work, "onnx", name + ".onnx")
    if not os.path.exists(model):
        r, text = command([o.python, os.path.join(HERE, "models.py"), os.path.dirname(model), name])
        if r.returncode:
            say("%s: %s" % (name, text))
            return None
    folder = os.path.join(o.work, "cuda", name)
    program, image = build(o, model, folder)
    if not program or o.check:
        return program and ()
    x, y, other = (os.path.join(folder, f) for f in ("x.bin", "y.bin", "ort.bin"))
    write_floats(x, sizes(folder)["IN0"] // 4)
    mine = ours(o, program, image, [y, x])
    theirs = library(o, ORT, [model, o.tensor_cores, str(o.secs), x, other])
    return mine, theirs, difference(y, other) if mine and theirs else None


def bench_layer(o, layer):
    name, operands, node, torch, _ = layer
    folder = os.path.join(o.work, "cuda", re.sub(r"[^a-z0-9]+", "_", name))
    os.makedirs(folder, exist_ok=True)
    model = os.path.join(folder, "layer.ag")
    with open(model, "w") as f:
        f.write("graph layer {\n  %s\n  y = %s\n  output y\n}\n" % (operands, node))
    program, image = build(o, model, folder)
    if not program or o.check:
        return program and ()
    return ours(o, program, image, []), library(o, TORCH, [o.tensor_cores, str(o.secs)], torch), None


def row(name, result, macs=None):
    mine, theirs, off = result
    cells = [name, "%.4f" % mine if mine else "-", "%.4f" % theirs if theirs else "-",
             "%.2f" % (mine / theirs) if mine and theirs else "-",
             "%.1f" % (2e-9 * macs / mine) if macs and mine else "", "%.1e" % off if off is not None else ""]
    say("| " + " | ".join(cells) + " |")
    return mine / theirs if mine and theirs else None


def main():
    o = options()
    found, why = gpu()
    if not found and not o.check:
        say("%s: nothing to time. --check compiles what would run" % why)
        return NO_GPU
    if found and found[1] < TARGETS[0]:
        say("%s has compute capability %d, the least is %d" % (found + (TARGETS[0],)))
        return NO_GPU
    o.image = "ptx" if found and found[1] not in TARGETS else "cubin"  # another GPU of later times compiles the text
    o.target = o.target or (target_of(found[1]) if found else "cuda-sm90")
    say("%s, %s, --tensor-cores %s" % (found[0] if found else "no GPU: compiled only", o.target, o.tensor_cores))
    jobs = [(n, bench_model, n, None) for n in filter(None, o.models.split(","))]
    jobs += [(layer[0], bench_layer, layer, layer[4]) for layer in LAYERS if not o.no_layers]
    jobs = [j for j in jobs if o.only in j[0]]
    if not o.check:
        say("| | arenac ms | library ms | ratio | TFLOP/s | difference |\n|---|---|---|---|---|---|")
    ratios, failed = {bench_model: [], bench_layer: []}, 0
    for name, bench, what, macs in jobs:
        result = bench(o, what)
        if result is None:
            failed += 1
        elif o.check:
            say("compiled: %s" % name)
        else:
            ratios[bench].append(row(name, result, macs))
    for bench, text in ((bench_model, "models / ONNX Runtime"), (bench_layer, "layers / PyTorch")):
        have = [r for r in ratios[bench] if r]
        if have:
            say("geometric mean of %d, %s: %.2f" % (len(have), text, math.exp(sum(map(math.log, have)) / len(have))))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
