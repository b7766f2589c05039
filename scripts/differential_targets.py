#!/usr/bin/env python3
"""Random nets on every processor of this machine or QEMU, in 1, 2, 3 and 7 parts: the bits of the
evaluator for the same target.

    scripts/differential_targets.py [ARENAC] [--nets 24] [--seed N] [--only aarch64] [--keep DIR]

A net is f32 or int8: convolutions (grouped, dilated, strided, 1x1), depthwise and transpose ones, pools, sums,
concatenations, pads, transposes, products of matrices and softmax, of sizes that are not multiples of tiles; later ones
read earlier ones, so that steps are fused and some run in parallel. As C: every step with its own inputs, compared with
the reference interpreter (compile --selftest-cc). As an object through LLVM, for processors whose vectors C does not
support: the whole net. A new seed each time, which is printed; a net that differs stays in DIR. Ends with `N passed, N
failed`; targets whose tools are missing are reported and skipped."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# target, compiler, emulator; -: this machine. C if objects cannot be emulated.
C = [("generic", "gcc -O2", None), ("generic", "clang -O2", None), ("x86-64-v2", "gcc -O2", None),
     ("x86-64-v3", "gcc -O2", None), ("x86-64-v3-vnni", "gcc -O2", None), ("x86-64-v4", "gcc -O2", None),
     ("x86-64-v4-vnni", "gcc -O2", None), ("x86-64-v4-bf16", "gcc -O2", None), ("x86-64-v4-amx", "gcc -O2", None),
     ("generic", "aarch64-linux-gnu-gcc -O2", "qemu-aarch64"), ("rv64gc", "riscv64-linux-gnu-gcc -O2", "qemu-riscv64")]
OBJECTS = [("aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu cortex-a57"),
           ("aarch64-dotprod", "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max"),
           ("aarch64-i8mm", "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max"),
           ("aarch64-sve256", "aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max,sve-default-vector-length=32"),
           ("rv64gcv", "riscv64-linux-gnu-gcc", "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0")]
NEEDS = {"x86-64-v3-vnni": "avx_vnni", "x86-64-v4": "avx512bw", "x86-64-v4-vnni": "avx512_vnni",
         "x86-64-v4-bf16": "avx512_bf16", "x86-64-v4-amx": "amx_int8"}  # of /proc/cpuinfo


class Net:
    """A chain of layers of one type, in which some read earlier ones: text of a graph with one input and one output."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.real = self.r.random() < 0.5
        self.type = "f32" if self.real else "i8"
        self.head, self.body, self.made = [], [], []
        side = self.r.randint(3, 30)
        self.shape = (1, side, self.r.randint(3, 30), self.r.choice((1, 3, 8, 12, 16, 17, 24)))
        self.scale = 0.05
        self.head.append("  input x: " + self.typed(self.shape, 0.05))
        self.made.append(("x", self.shape, 0.05))

    def typed(self, shape, scale):
        text = "%s[%s]" % (self.type, ",".join(map(str, shape)))
        return text if self.real else text + " q(%.9g, %d)" % (scale, 3 if scale != 0.05 else -5)

    def put(self, shape, call, scale):
        name = "y%d" % len(self.body)
        given = "" if self.real else ": " + self.typed(shape, scale)
        self.body.append("  %s%s = %s" % (name, given, call))
        self.made.append((name, shape, scale))

    def weights(self, *shape, fan_in):
        name, seed = "w%d" % len(self.head), self.r.randrange(1000)
        text = ",".join(map(str, shape))
        reach = (3.0 / fan_in) ** 0.5
        self.head.append("  const %s: f32[%s] = random %d (%.3g, %.3g)" % (name, text, seed, -reach, reach) if self.real
                         else "  const %s: i8[%s] q(0.02, 0) = random %d (-127, 127)" % (name, text, seed))
        return name

    def bias(self, n):
        name = "b%d" % len(self.head)
        self.head.append("  const %s: f32[%d] = random %d (-0.2, 0.2)" % (name, n, n) if self.real else
                         "  const %s: i32[%d] = random %d (-900, 900)" % (name, n, n))
        return name

    def act(self):
        return self.r.choice(("", "", " act=relu", " act=relu6"))

    def window(self, x, ks=(1, 1, 2, 3, 3, 5)):
        k, s = (self.r.choice(ks), self.r.choice(ks)), self.r.choice((1, 1, 1, 2))
        d = self.r.choice((1, 1, 2)) if s == 1 else 1
        shape = [-(-n // s) for n in x[1:3]]
        more = " padding=same" + (" stride_h=%d stride_w=%d" % (s, s) if s > 1 else "")
        return k, shape, more + (" dilation_h=%d dilation_w=%d" % (d, d) if d > 1 else "")

    def image(self):
        return self.r.choice([m for m in self.made if len(m[1]) == 4][-3:])

    def conv(self):
        name, x, scale = self.image()
        k, out, more = self.window(x)
        groups = self.r.choice([g for g in (1, 1, 1, 2, 3, 4) if x[3] % g == 0])
        oc = groups * self.r.choice((1, 2, 4, 5, 8, 16, 21))
        fan_in = k[0] * k[1] * x[3] // groups
        w = self.weights(oc, *k, x[3] // groups, fan_in=fan_in)
        self.put((1, *out, oc), "conv_2d(%s, %s, %s)%s%s" % (name, w, self.bias(oc), more, self.act()),
                 0.02 * scale * 70 * fan_in ** 0.5)

    def depthwise(self):
        name, x, scale = self.image()
        k, out, more = self.window(x, (2, 3, 3, 5))
        w = self.weights(1, *k, x[3], fan_in=k[0] * k[1])
        self.put((1, *out, x[3]), "depthwise_conv_2d(%s, %s, %s)%s%s" % (name, w, self.bias(x[3]), more, self.act()),
                 0.02 * scale * 70 * (k[0] * k[1]) ** 0.5)

    def pool(self):
        name, x, scale = self.image()
        k, out, _ = self.window(x, (2, 3))
        op = self.r.choice(("max", "average"))
        self.put(x, "%s_pool_2d(%s) kernel_h=%d kernel_w=%d padding=same" % (op, name, *k), scale)

    def sum(self):
        name, x, scale = self.image()
        other = self.r.choice([m for m in self.made if m[1] == x])
        self.put(x, "add(%s, %s)%s" % (name, other[0], self.act()), 2 * scale)

    def concat(self):
        name, x, scale = self.image()
        other = self.r.choice([m for m in self.made if m[1][:3] == x[:3]])
        if x[3] + other[1][3] < 80:
            self.put((*x[:3], x[3] + other[1][3]), "concatenation(%s, %s) axis=3" % (name, other[0]), scale)

    def curve(self):
        name, x, scale = self.image()
        op = self.r.choice(("tanh", "logistic")) if self.real else self.r.choice(("relu", "leaky_relu"))
        self.put(x, "%s(%s)" % (op, name), scale)

    def pad(self):
        name, x, scale = self.image()
        if self.real and x[1] < 32:
            self.put((1, x[1] + 3, x[2] + 1, x[3]), "pad(%s) pads=[0,0,1,2,0,1,0,0]" % name, scale)

    def turn(self):
        name, x, scale = self.image()
        if self.real:
            self.put((1, x[2], x[1], x[3]), "transpose(%s) perm=[0,2,1,3]" % name, scale)

    def dense(self):
        name, x, scale = self.image()
        self.put((x[1] * x[2], x[3]), "reshape(%s) shape=[%d,%d]" % (name, x[1] * x[2], x[3]), scale)
        o = self.r.choice((1, 3, 10, 16, 40))
        w = self.weights(o, x[3], fan_in=x[3])
        self.put((x[1] * x[2], o), "fully_connected(%s, %s, %s)" % (self.made[-1][0], w, self.bias(o)),
                 0.02 * scale * 70 * x[3] ** 0.5)
        if self.real:
            self.put(self.made[-1][1], "softmax(%s)" % self.made[-1][0], scale)

    def text(self):
        kinds = 3 * [self.conv] + [self.depthwise, self.pool, self.sum, self.concat, self.curve, self.pad, self.turn]
        for _ in range(self.r.randint(3, 9)):
            self.r.choice(kinds)()
        if self.r.random() < 0.4 or not self.body:
            self.dense()
        return "\n".join(["graph net {"] + self.head + self.body + ["  output " + self.made[-1][0], "}", ""])

    def input(self):
        x = np.random.RandomState(self.r.randrange(1 << 30))
        return x.uniform(-1, 1, self.shape).astype(np.float32) if self.real else \
            x.randint(-128, 128, self.shape).astype(np.int8)


def call(words, folder):
    r = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    return r.returncode, (r.stdout + r.stderr).strip()


def as_c(arenac, folder, target, compiler, threads):
    return call([arenac, "compile", "-q", "net.ag", "-t", target, "--threads", str(threads), "--budget", "1G", "--name",
                 "net", "-o", "net.c", "--selftest-cc", compiler, "--vectors", "2"], folder)


def mended(folder):
    """net.s as QEMU before 8.0 can run it: it ends when a block begins with a conversion that rounds towards zero. Such
    a one is written in two steps; every other instruction stays."""
    path = os.path.join(folder, "net.s")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(re.sub(r"^(\s*vf[nw]*cvt)\.rtz(\..*)$", r"\tfsrmi\t1\n\1\2\n\tfsrmi\t0", text, flags=re.M))


def as_object(arenac, folder, target, compiler, emulator, threads):
    riscv = target.startswith("rv")
    status, said = call([arenac, "compile", "-q", "net.ag", "-t", target, "--threads", str(threads), "--name", "net",
                         "--emit", "s,h" if riscv else "o,h", "-o", "net"], folder)
    if status:
        return status, said
    if riscv:
        mended(folder)
    for step in ([[compiler, "-march=rv64gcv", "-c", "net.s", "-o", "net.o"]] if riscv else []) + [
            [arenac, "run", "-q", "net.ag", "-t", target, "--backend", "eval", "--input", "0=in.npy", "--output-dir",
             "want"],
            [sys.executable, os.path.join(ROOT, "tests", "host_main.py"), "net", "net.h", "in.npy", "want/0.npy"],
            [compiler, "-static", "-O1", "-I.", "-I" + os.path.join(ROOT, "runtime"), "main.c", "net.o", "-o", "main"],
            emulator.split() + ["./main"]]:
        status, said = call(step, folder)
        if status:
            return status, said
        if "host_main.py" in step[1]:
            with open(os.path.join(folder, "main.c"), "w") as f:
                f.write(said)
    return 0, ""


def there(tool, needs=None):
    if needs:
        with open("/proc/cpuinfo") as f:
            return needs in f.read()
    return shutil.which(tool) is not None


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("arenac", nargs="?", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--nets", type=int, default=24)
    ap.add_argument("--seed", type=int)
    ap.add_argument("--only", default="", help="targets whose name contains this")
    ap.add_argument("--keep", default="faults")
    o = ap.parse_args()
    arenac, seed = os.path.abspath(o.arenac), o.seed if o.seed is not None else random.randrange(1 << 20)
    print("seed %d" % seed)
    tests = []
    for target, compiler, emulator in C + OBJECTS:
        missing = [t for t in (compiler.split()[0], (emulator or "sh").split()[0]) if not there(t)]
        if target in NEEDS and not there("", NEEDS[target]):
            missing = [NEEDS[target]]
        if missing:
            print("%s by %s: %s is missing, left out" % (target, compiler, missing[0]))
        elif o.only in target:
            tests.append((target, compiler, emulator if (target, compiler, emulator) in OBJECTS else None))
    passed = failed = 0
    for n in range(o.nets):
        with tempfile.TemporaryDirectory() as folder:
            net = Net(seed + n)
            text = net.text()
            with open(os.path.join(folder, "net.ag"), "w") as f:
                f.write(text)
            np.save(os.path.join(folder, "in.npy"), net.input())
            for k, (target, compiler, emulator) in enumerate(tests):
                threads = (1, 2, 3, 7)[(n + k) % 4]
                status, said = as_object(arenac, folder, target, compiler, emulator, threads) if emulator else \
                    as_c(arenac, folder, target, compiler, threads)
                passed, failed = passed + (not status), failed + bool(status)
                if status:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(os.path.join(folder, "net.ag"), os.path.join(o.keep, "net%d.ag" % (seed + n)))
                    print("net%d.ag on %s by %s, %d threads (%d): %s" % (seed + n, target, compiler, threads, status,
                                                                        said.split("\n")[0]), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
