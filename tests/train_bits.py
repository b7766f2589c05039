#!/usr/bin/env python3
"""Are the bits of a training the same, whoever computes it (--exact)?

  train_bits.py --arenac build/arenac [--steps 100] [--emulated-steps 10] FOLDER...

FOLDER: model.onnx, .ag or .tflite, x.npy, y.npy, train.json (loss, batch, optimizer: its name, lr and other options;
options: more words), as those of shared/training/models. Losses and weights after --steps steps are compared over
backends, one and two threads, the least budget and one half way to it; losses and state after --emulated-steps steps of
the code of `compile --train` over x86-64, aarch64 and riscv64, with the losses of the evaluator: C of target generic by
each compiler, here with sanitizers too, objects for aarch64 and rv64gc, run by qemu-user. What is missing is said and
left out.
Exit status 1: some bits differ.
"""
import argparse
import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# target, compiler and its options, emulator, an object through LLVM
MACHINES = [
    ("generic", "cc -static", "", False),
    ("generic", "cc -fsanitize=address,undefined -fno-sanitize-recover=all", "", False),
    ("x86-64-v3", "cc -static", "", False),
    ("generic", "aarch64-linux-gnu-gcc -static", "qemu-aarch64", False),
    ("generic", "riscv64-linux-gnu-gcc -static", "qemu-riscv64", False),
    ("aarch64", "aarch64-linux-gnu-gcc -static", "qemu-aarch64", True),
    ("rv64gc", "riscv64-linux-gnu-gcc -static", "qemu-riscv64", True),
]


def call(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)


def losses(path):
    """As bits."""
    with open(path) as f:
        return [struct.unpack("<I", struct.pack("<f", float(r["loss"])))[0] for r in csv.DictReader(f)]


def states(folder, name):
    """The final state of a program, by the names in the header."""
    header = re.sub(r"\s+", " ", open(os.path.join(folder, name + ".h")).read())
    raw, found = open(os.path.join(folder, name + ".state"), "rb").read(), {}
    for at, what, shape in re.findall(r"/\* state (0x[0-9a-f]+): (.*?) f32 \[(.*?)\] \*/", header):
        n = 4 * int(np.prod([int(d) for d in shape.split(",") if d], dtype=int))
        found[what] = raw[int(at, 16):int(at, 16) + n]
    return found


class Case:
    def __init__(self, args, folder, work):
        self.arenac, self.args, self.folder, self.work = args.arenac, args, folder, work
        self.name = os.path.basename(os.path.normpath(folder))
        self.how = json.load(open(os.path.join(folder, "train.json")))
        files = (os.path.join(folder, "model." + e) for e in ("onnx", "ag", "tflite"))
        self.model = next(f for f in files if os.path.exists(f))
        self.options = ["--loss", self.how["loss"], "--batch", self.how["batch"], "--exact"]
        for k, v in self.how["optimizer"].items():
            if k == "betas":
                self.options += ["--beta1", v[0], "--beta2", v[1]]
            elif k not in ("name", "lr"):
                self.options += ["--" + k.replace("_", "-"), v]
        self.options += self.how.get("options", [])
        self.bad = 0

    def say(self, ok, what):
        self.bad += not ok
        print("%-6s %s: %s" % ("equal" if ok else "OTHER", self.name, what), flush=True)

    def train(self, what, steps, *more):
        """Bytes of log and weights, and the arena; no bytes, and the minimum arena, if a budget cannot be met."""
        out = os.path.join(self.work, what)
        o, f = self.how["optimizer"], self.folder
        r = call(self.arenac, "train", self.model, "--data", "0=%s/x.npy" % f, "--target", f + "/y.npy", "--optimizer",
                 o["name"], "--lr", o["lr"], "--steps", steps, "--log", out + ".csv", "-o", out + ".npz",
                 *self.options, *more)
        if r.returncode == 4:
            return b"", int(re.search(r"needs ([0-9,]+) B", r.stderr)[1].replace(",", ""))
        if r.returncode:
            self.say(False, "%s: %s" % (what, r.stderr))
            return b"", 0
        return open(out + ".csv", "rb").read() + open(out + ".npz", "rb").read(), int(r.stdout.split("peak_bytes=")[1])

    def here(self):
        want, arena = self.train("c", self.args.steps)
        variants = [("2 threads", ["--threads", 2]), ("dead bytes overwritten", ["--poison"])]
        if os.path.exists(os.path.join(os.path.dirname(self.arenac), "arenac-llvm.so")):
            variants += [("llvm", ["--backend", "llvm"]), ("llvm, 2 threads", ["--backend", "llvm", "--threads", 2])]
        least = self.train("least", 1, "--budget", 1)[1]
        for budget in sorted({least, (least + arena) // 2} - {arena}):
            variants.append(("%.2f of the arena" % (budget / arena), ["--budget", budget]))
        for what, more in variants:
            self.say(self.train(what, self.args.steps, *more)[0] == want, "%s, %d steps" % (what, self.args.steps))

    def program(self, target, cc, run, obj, want):
        """Its losses are those that are wanted; its state."""
        what = "%s by %s%s" % (target, "LLVM" if obj else cc.replace(" -static", ""), ", " + run if run else "")
        folder = os.path.join(self.work, re.sub(r"\W", "_", what))
        os.mkdir(folder)
        for f in "xy":
            os.symlink(os.path.abspath("%s/%s.npy" % (self.folder, f)), "%s/%s.npy" % (folder, f))
        r = call(self.arenac, "compile", "-q", os.path.abspath(self.model), "--train", self.how["optimizer"]["name"],
                 "-t", target, "--name", "m", "--weights", "rodata", *self.options,
                 *(["--emit", "o,h", "-o", folder + "/m"] if obj else ["-o", folder + "/m.c"]))
        if r.returncode == 0:
            r = call(sys.executable, HERE + "/train_main.py", "m", "m.h", "x.npy", "y.npy", self.how["batch"],
                     self.args.emulated_steps, self.how["optimizer"]["lr"], cwd=folder)
            open(folder + "/main.c", "w").write(r.stdout)
        if r.returncode == 0:
            r = call(*cc.split(), "-O2", "m.o" if obj else "m.c", "main.c", "-o", "main", cwd=folder)
        if r.returncode == 0:
            r = call(*([run] if run else []), "./main", cwd=folder)
        got = [int(line.split()[1], 16) for line in r.stdout.splitlines()] if r.returncode == 0 else r.stderr
        self.say(got == want, "%s, %d steps" % (what, len(want)))
        return states(folder, "m") if got == want else {}

    def elsewhere(self):
        self.train("eval", self.args.emulated_steps, "--backend", "eval")
        want, first = losses(os.path.join(self.work, "eval.csv")), None
        for target, cc, run, obj in MACHINES:
            lacks = [t for t in (cc.split()[0], run) if t and not shutil.which(t)]
            if obj and not os.path.exists(os.path.join(os.path.dirname(self.arenac), "arenac-llvm.so")):
                lacks.append("LLVM")
            if lacks:
                print("skipped: %s is missing" % ", ".join(lacks))
                continue
            got = self.program(target, cc, run, obj, want)
            first = first or got
            if got != first:
                self.say(False, "%s: the state" % target)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--arenac", required=True)
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--emulated-steps", type=int, default=10)
    p.add_argument("folder", nargs="+")
    args = p.parse_args()
    bad = 0
    for folder in args.folder:
        with tempfile.TemporaryDirectory() as work:
            case = Case(args, folder, work)
            case.here()
            case.elsewhere()
            bad += case.bad
    sys.exit(bad > 0)


main()
