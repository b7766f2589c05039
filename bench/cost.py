#!/usr/bin/env python3
"""The costs of compiling: memory, time and bytes written, on models that are large in different ways.

    bench/cost.py                        the models below
    bench/cost.py gpt nasnet_int8        these
    bench/cost.py FILE.onnx ...          these files

A row for each model and verb: peak memory and its ratio to the weights, seconds of arenac and of gcc -O2, bytes of C
and of weights written. Ends with the number of limits that are missed: memory at most twice the weights and 100 MB;
gpt (551 M parameters) in 20 s and 5 GB; 16 sizes of dims in 18 MB; nasnet_int8 in 1.5 MB of C and 10 s of gcc; one
tensor for 400 convolutions counts once. Seconds are those of the CPU. Needs onnx and numpy, and 5 GB of disk.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MB = 1 << 20


# ------------------------------------------------------------------ models

def save(net, path, inputs, y, y_shape, external=False):
    """inputs: [(name, onnx type, shape)]. external: weights in one file next to the model that is never in memory."""
    import onnx
    from onnx import TensorProto, helper
    graph = helper.make_graph(net.nodes, "cost", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, y_shape)], net.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if external:
        onnx.save(model, path, save_as_external_data=True, location=os.path.basename(path) + ".data",
                  size_threshold=1024)
    else:
        onnx.save(model, path)


def transformer(path, layers, d, heads, tokens, words, external):
    """As language models are exported: embedding, decoder layers, logits of every token."""
    import numpy as np
    import models
    from onnx import TensorProto

    class Wide(models.Net):
        """Weights of one buffer of random numbers: as many as there are take too long to draw."""
        pool = np.random.default_rng(7).standard_normal(1 << 22, np.float32)

        def normal(self, *shape, scale=None):
            n, at = int(np.prod(shape)), int(self.random.randint(1 << 20))
            flat = np.resize(self.pool[at:], n) * np.float32(scale or shape[-1] ** -0.5)
            return self.const(flat.reshape(shape))

        def linear(self, x, i, o):
            return self.op("Add", self.op("MatMul", x, self.normal(i, o, scale=i ** -0.5)), self.normal(o, scale=0.05))

    n = Wide()
    mask = n.const(np.triu(np.full((tokens, tokens), -1e9, np.float32), 1))
    x = n.op("Add", n.op("Gather", n.normal(words, d), "ids", axis=0), n.normal(tokens, d))

    def split(y, perm):
        return n.op("Transpose", n.op("Reshape", y, n.ints(1, tokens, heads, d // heads)), perm=perm)
    for _ in range(layers):
        h = models.layer_norm(n, x, d)
        q, k, v = (split(n.linear(h, d, d), p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        a = n.op("Mul", n.op("MatMul", q, k), n.const(np.float32((d // heads) ** -0.5)))
        y = n.op("Transpose", n.op("MatMul", n.op("Softmax", n.op("Add", a, mask), axis=-1), v), perm=[0, 2, 1, 3])
        x = n.op("Add", x, n.linear(n.op("Reshape", y, n.ints(1, tokens, d)), d, d))
        x = n.op("Add", x, n.linear(models.gelu(n, n.linear(models.layer_norm(n, x, d), d, 4 * d)), 4 * d, d))
    y = n.op("MatMul", models.layer_norm(n, x, d), n.normal(d, words))
    save(n, path, [("ids", TensorProto.INT64, [1, tokens])], y, [1, tokens, words], external)


def gpt(path):
    transformer(path, 20, 1360, 17, 32, 41000, True)


def gpt_small(path):
    transformer(path, 6, 512, 8, 32, 16000, False)


def mobile(path):
    """MobileNetV2 of four times the channels: mostly 1x1 convolutions."""
    import models
    n = models.Net()
    x, i = n.conv("x", 3, 96, 3, 2, act="Relu6"), 96
    for t, c, count, stride in ((1, 48, 1, 1), (6, 80, 2, 2), (6, 112, 3, 2), (6, 208, 4, 2), (6, 304, 3, 1),
                                (6, 512, 3, 2), (6, 960, 1, 1)):
        for b in range(count):
            s, y = stride if b == 0 else 1, x
            y = n.conv(y, i, i * t, 1, act="Relu6") if t > 1 else y
            y = n.conv(y, i * t, i * t, 3, s, i * t, act="Relu6")
            y = n.conv(y, i * t, c, 1, act=None)
            x, i = (n.op("Add", x, y) if s == 1 and i == c else y), c
    n.save(path, models.IMAGE, n.classify(n.conv(x, i, 3200, 1, act="Relu6"), 3200, 1000), (1, 1000))


def resnet(path):
    import models
    n = models.Net()
    n.save(path, models.IMAGE, *models.resnet50(n)[1:])


def nasnet_int8(path):
    """Cells of separable convolutions of 3x3, 5x5 and 7x7 whose results are added, as NASNet has them, in int8."""
    text, at = ["graph nasnet {", "input x: i8[1,112,112,32] q(0.02, -1)"], [0]

    def name(kind):
        at[0] += 1
        return "%s%d" % (kind, at[0])

    def conv(x, shape, k, o, stride, depthwise):
        h, w, c = shape
        s = ([1, k, k, c] if depthwise else [o, k, k, c])
        wt, b, y = name("w"), name("b"), name("t")
        axis = 3 if depthwise else 0
        scales = ", ".join("0.00%d 0" % (11 + 7 * j % 83) for j in range(s[axis]))
        text.append("const %s: i8[%s] q(axis %d: %s) = random %d (-127, 127)" %
                    (wt, ",".join(map(str, s)), axis, scales, at[0]))
        text.append("const %s: i32[%d] = random %d (-900, 900)" % (b, s[axis], at[0]))
        out = (-(-h // stride), -(-w // stride), s[axis])
        text.append("%s: i8[1,%d,%d,%d] q(0.02, -1) = %s(%s, %s, %s) stride_h=%d stride_w=%d padding=same act=relu" %
                    ((y,) + out + ("depthwise_conv_2d" if depthwise else "conv_2d", x, wt, b, stride, stride)))
        return y, out

    def separable(x, shape, k, o, stride):
        y, s = conv(x, shape, k, o, stride, True)
        return conv(y, s, 1, o, 1, False)

    x, shape = "x", (112, 112, 32)
    for stage, o in enumerate((44, 88, 176)):
        for cell in range(4):
            stride = 1 if cell else 2
            parts = [separable(x, shape, k, o, stride) for k in (3, 5, 7, 5, 3)]
            x, shape = parts[0]
            for y, _ in parts[1:]:
                z = name("t")
                text.append("%s: i8[1,%d,%d,%d] q(0.02, -1) = add(%s, %s)" % ((z,) + shape + (x, y)))
                x = z
    text += ["output " + x, "}"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n")


def one_weight(path):
    """400 convolutions with one initialiser, at several sizes."""
    import models
    n = models.Net()
    w, x = n.normal(8, 8, 3, 3), "x"
    for k in range(400):
        x = n.op("Relu", n.op("Conv", x, w, kernel_shape=[3, 3], pads=[1] * 4))
        x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]) if k in (100, 200, 300) else x
    n.save(path, (1, 8, 64, 64), x, (1, 8, 8, 8))


def dims(path):
    """15 MB of dense layers over a symbolic number of rows."""
    import models
    from onnx import TensorProto
    n, x = models.Net(), "x"
    for i, o in ((512, 1024), (1024, 1536), (1536, 1024), (1024, 128)):
        x = n.op("Relu", n.dense(x, i, o))
    save(n, path, [("x", TensorProto.FLOAT, ["n", 512])], x, ["n", 128])


def deep(path):
    """10,000 nodes, each with a weight of its own."""
    import numpy as np
    import models
    n, x, kept = models.Net(), "x", []
    for k in range(2500):
        y = n.op("Relu", n.op("Add", n.op("Mul", x, n.const(np.float32(1 + k / 9999))), n.normal(1, 16, scale=0.1)))
        x = n.op("Softmax", n.op("Add", y, kept[-17]) if k % 16 == 0 and len(kept) > 17 else y)
        kept.append(x)
    n.save(path, (1, 16), x, (1, 16))


MODELS = {f.__name__: f for f in (gpt, gpt_small, mobile, resnet, nasnet_int8, one_weight, dims, deep)}
SUFFIX = {"nasnet_int8": ".ag"}


# ------------------------------------------------------------------ measuring

def measured(cmd, cwd):
    """(status, peak bytes of its memory, seconds of CPU with those of children, stderr)"""
    with open(os.path.join(cwd, "err"), "w+", encoding="utf-8") as err:
        p = subprocess.Popen(cmd, cwd=cwd, stdout=subprocess.DEVNULL, stderr=err)
        peak, done = 0, 0
        while not done: # its own memory: that of wait4 is the compiler's, too
            try:
                with open("/proc/%d/status" % p.pid, encoding="utf-8") as f:
                    peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith("VmHWM")])
            except OSError:
                pass
            time.sleep(0.005)
            done, status, use = os.wait4(p.pid, os.WNOHANG)
        p.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return p.returncode, peak * 1024, use.ru_utime + use.ru_stime, err.read()


def written(folder, *ends):
    return sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith(ends))


def weights_of(o, model):
    """Bytes of constants in the file: all of it, or its external data; for text, those of its i8 and i32."""
    if not model.endswith(".ag"):
        data = model + ".data"
        return os.path.getsize(model) + (os.path.getsize(data) if os.path.exists(data) else 0)
    sizes = {"i8": 1, "i32": 4, "f32": 4}
    total = 0
    for dtype, shape in re.findall(r"^const \w+: (\w+)\[([\d,]*)\]", open(model, encoding="utf-8").read(), re.M):
        count = 1
        for n in filter(None, shape.split(",")):
            count *= int(n)
        total += count * sizes[dtype]
    return total


def look(o, name, model, also):
    folder = os.path.join(o.work, "cost", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    row = {"name": name, "weights": weights_of(o, model)}
    cmd = [o.arenac, "compile", "-q", os.path.abspath(model), "--name", "net", "-t", o.target, "-o", "net.c"] + also
    status, row["peak"], row["seconds"], err = measured(cmd, folder)
    if status:
        row["failed"] = err.strip().split("\n")[0][:100]
        return row
    row["c"], row["blob"] = written(folder, ".c", ".h"), written(folder, ".bin")
    if not o.no_gcc:
        sources = sorted(f for f in os.listdir(folder) if f.endswith(".c"))
        status, _, row["gcc"], err = measured([o.cc, "-O2", "-Wa,-I.", "-c"] + sources, folder)
    if name in RUNS or o.run:
        cmd = [o.arenac, "run", os.path.abspath(model), "--random", "1", "--output-dir", "out"]
        status, row["run_peak"], row["run_seconds"], err = measured(cmd, folder)
        if status:
            row["run_failed"] = err.strip().split("\n")[0][:100]
    plan = subprocess.run([o.arenac, "plan", os.path.abspath(model), "-t", o.target, "--json"] + also, cwd=folder,
                          capture_output=True, text=True)
    if not plan.returncode and not also:
        said = re.search(r'"weight_bytes": ?(\d+)', plan.stdout)
        row["said"] = int(said.group(1)) if said else None
    return row


RUNS = ("gpt_small", "mobile", "resnet", "nasnet_int8", "deep", "one_weight")
ALSO = {"dims": ["--dim", "n=1..16"]}


def misses(r):
    if "failed" in r:
        return ["%s: %s" % (r["name"], r["failed"])]
    over, most = [], 2 * r["weights"] + 100 * MB
    for key in ("peak", "run_peak"):
        if r.get(key, 0) > most:
            over.append("%s: %s of %d MB, limit %d" % (r["name"], key, r[key] // MB, most // MB))
    if "run_failed" in r:
        over.append("%s: %s" % (r["name"], r["run_failed"]))
    limits = {"gpt": [("peak", 5e9), ("seconds", 20)], "dims": [("blob", 18 * MB)], "one_weight": [("said", 40000)],
              "nasnet_int8": [("c", 1.5 * MB), ("gcc", 10)]}
    for key, limit in limits.get(r["name"], ()):
        if (r.get(key) or 0) > limit:
            over.append("%s: %s %.4g, limit %.4g" % (r["name"], key, r[key], limit))
    return over


def make(name, path):
    """In a separate process: the peak memory of a process counts for those that it starts."""
    code = "import sys; sys.path.insert(0, %r); import cost; cost.MODELS[%r](%r)" % (HERE, name, path)
    subprocess.run([sys.executable, "-c", code], check=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("model", nargs="*")
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--target", default="native")
    ap.add_argument("--cc", default=os.environ.get("CC", "gcc"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"))
    ap.add_argument("--no-gcc", action="store_true")
    ap.add_argument("--run", action="store_true", help="measure `arenac run` for all of them")
    o = ap.parse_args()
    made = os.path.join(o.work, "models")
    os.makedirs(made, exist_ok=True)
    missed = []
    print("%-12s %9s %9s %6s %8s %8s %9s %9s %9s %8s %9s" %
          ("model", "weights", "peak MB", "times", "arenac s", "gcc s", "C KB", "blob MB", "said MB", "run s",
           "run MB"))
    for name in o.model or MODELS:
        path = name
        if name in MODELS:
            path = os.path.join(made, name + SUFFIX.get(name, ".onnx"))
            if not os.path.exists(path):
                make(name, path)
        name = os.path.splitext(os.path.basename(path))[0]
        r = look(o, name, path, ALSO.get(name, []))
        missed += misses(r)

        def shown(key, scale, digits):
            return "%.*f" % (digits, r[key] / scale) if r.get(key) is not None else "-"
        print("%-12s %9s %9s %6.2f %8s %8s %9s %9s %9s %8s %9s" %
              (name, shown("weights", MB, 2), shown("peak", MB, 0), r["peak"] / r["weights"], shown("seconds", 1, 2),
               shown("gcc", 1, 1), shown("c", 1024, 0), shown("blob", MB, 2), shown("said", MB, 3),
               shown("run_seconds", 1, 1), shown("run_peak", MB, 0)), flush=True)
    for line in missed:
        print("over: " + line)
    print("%d limits are missed" % len(missed))
    return min(len(missed), 1)


if __name__ == "__main__":
    sys.exit(main())
