#!/usr/bin/env python3
"""Random graphs through arenac, with random options, and through the framework that defines their format.

    differential.py ARENAC DIR [--graphs 200] [--seed S] [--kind onnx|tflite] [--nodes 14] [--keep-going]
                    [--backends c,llvm,cuda-emu,prove]

Every graph runs on the reference interpreter with two sets of options, and now and then on compiled code, whose
results have to be those of the interpreter bit for bit, or its code is to be proven. Results must be the framework's:
integers equal; floats within 2e-4 of the largest, and thirty times what moves them when the inputs move by a
millionth. A graph that differs is reduced and written to DIR: fault-SEED.onnx (or .tflite), its inputs, the model as
.ag, and the command that shows it. The seed is new at every run, and printed."""
import argparse
import collections
import dataclasses
import pathlib
import re
import secrets
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from reduce import smaller

WRONG_LINE, UNSUPPORTED = 2, 8
OPTIONS = [["--schedule", "search"], ["--recompute"], ["--inplace", "off"], ["--views", "off"], ["--overlap", "on"],
           ["--stripe", "auto"], ["--io", "rows"], ["--threads", "2"], ["--threads", "3"], ["--threads", "7"],
           ["--preserve", "all"], ["--preserve", "input"], ["--dead", "on"], ["--align", "64"], ["--align", "1"],
           ["--share-kernels=on"], ["--winograd"], ["--winograd=2"], ["--exact"], ["--planner", "tflite"],
           ["--planner", "greedy"],
           ["--planner", "none"], ["--effort", "0"], ["--poison"], ["--skip", "epilogue"], ["--skip", "layout"],
           ["--skip", "fold"], ["--skip", "norm"], ["--skip", "view"]]
TARGETS = ["generic", "native", "x86-64-v2", "x86-64-v4-vnni", "cortex-m4", "cortex-m55-mve", "aarch64-i8mm", "rv64gcv",
           "cortex-m0plus", "wasm32"]
BACKENDS = ["c", "llvm", "cuda-emu", "prove", "prove"]


def some_options(r):
    line = []
    for _ in range(int(r.choice([0, 1, 1, 2, 3, 4]))):
        o = OPTIONS[int(r.integers(len(OPTIONS)))]
        if o[0].split("=")[0] not in [w.split("=")[0] for w in line] or o[0] == "--skip":
            line += o
    return line


def kind_of(text):
    """The refusal, without the names and numbers of this graph."""
    line = next((line for line in text.split("\n") if "error" in line), text)
    return re.sub(r"'[^']*'|\d+", "_", line[max(line.find("error"), 0):])[:150]


class Runner:
    def __init__(self, arenac, folder, kind):
        self.arenac, self.dir, self.kind = arenac, pathlib.Path(folder), kind

    def write(self, g, stem):
        """The model and its inputs; the arguments that name it, and those that name them."""
        path = self.dir / (stem + self.kind.SUFFIX)
        path.write_bytes(self.kind.model(g))
        more, given = getattr(self.kind, "more", None), []
        for i, (k, v) in enumerate(g.feeds.items()):
            np.save(self.dir / ("%s-%d.npy" % (stem, i)), np.ascontiguousarray(v).reshape(v.shape))
            given += ["--input", "%s=%s" % (k if more else i, self.dir / ("%s-%d.npy" % (stem, i)))]
        return [str(path)] + (more(g, path) if more else []), given

    def run(self, args, n, options):
        """Results, or (exit status, output)."""
        out = self.dir / "out"
        out.mkdir(exist_ok=True)
        for f in out.glob("*.npy"):
            f.unlink()
        try:
            r = subprocess.run([self.arenac, "run", "-q", *args, "--output-dir", str(out), *options], text=True,
                               capture_output=True, timeout=300)
        except subprocess.TimeoutExpired:
            return -1, "no end within five minutes"
        if r.returncode:
            return r.returncode, r.stderr.strip()
        return [np.load(out / ("%d.npy" % i)) for i in range(n)]

    def prove(self, model, options):
        """The result of arenac prove for the code."""
        options = [o for o in options if o not in ("--backend", "prove")]
        try:
            r = subprocess.run([self.arenac, "prove", "-q", *model, *options], text=True, capture_output=True,
                               timeout=300)
        except subprocess.TimeoutExpired:
            return "exit -1", "no end within five minutes"
        if r.returncode == UNSUPPORTED and "error" in r.stderr:
            return 0, r.stderr.strip()
        return None if r.returncode == 0 else ("prove %d" % r.returncode, (r.stderr + r.stdout).strip())

    def why(self, g, options):
        """None: as it should be; (class, text) of a fault; (0, text): refused."""
        if self.backend(options) == "prove":
            return self.prove(self.write(g, "m")[0], options)
        want = self.kind.run(g)
        moved = None
        if any(v.dtype.kind == "f" for v in want):
            r = np.random.default_rng(0)
            moved = [np.asarray(v * (1 + r.uniform(-1e-6, 1e-6, v.shape)), v.dtype) if v.dtype.kind == "f" else v
                     for v in g.feeds.values()]
            moved = self.kind.run(g, dict(zip(g.feeds, moved)))
        args = sum(self.write(g, "m"), [])
        got = self.run(args, len(want), options)
        bad = self.judge(got, want, moved)
        if bad or isinstance(got, tuple):
            return bad
        if self.backend(options) != "eval":
            other = list(options)
            other[other.index("--backend") + 1] = "eval"
            same = self.run(args, len(want), other)
            if isinstance(same, tuple):
                return self.judge(same, want, moved)
            for i, (a, b) in enumerate(zip(got, same)):
                if a.tobytes() != b.tobytes():
                    return "backend", "result %d of %s is not that of the interpreter" % (i, self.backend(options))
        return None

    @staticmethod
    def backend(options):
        return options[options.index("--backend") + 1]

    @staticmethod
    def judge(got, want, moved):
        if isinstance(got, tuple):
            status, text = got
            if status in (WRONG_LINE, UNSUPPORTED):
                return 0, text
            return "exit %d" % status, text
        for i, (a, b) in enumerate(zip(got, want)):
            if a.shape != b.shape or a.dtype != b.dtype:
                return "shape", "result %d is %s %s, expected %s %s" % (i, a.dtype, a.shape, b.dtype, b.shape)
            if a.dtype.kind != "f":
                if not np.array_equal(a, b):
                    return "values", "result %d: %d of %d differ" % (i, (a != b).sum(), a.size)
                continue
            wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
            most = np.abs(wide_b).max(initial=0) * 2e-4 + 1e-6
            if moved is not None:
                most += 30 * np.abs(moved[i].astype(np.float64) - wide_b).max(initial=0)
            far = ~(np.abs(wide_a - wide_b) <= most) & ~(np.isnan(wide_a) & np.isnan(wide_b))
            if far.any():
                return "values", "result %d: %g, expected %g; %d of %d" % (i, a[far].flat[0], b[far].flat[0], far.sum(),
                                                                           a.size)
        return None


def reduced(runner, g, options, bad):
    def fails(h):
        try:
            again = runner.why(h, options)
        except Exception:  # a part that the framework does not run
            return False
        return bool(again) and again[0] == bad[0]

    k = 0
    while k < len(options):  # options that do not matter
        n = 2 if k + 1 < len(options) and not options[k + 1].startswith("--") else 1
        fewer = options[:k] + options[k + n:]
        if options[k] not in ("--backend", "-t"):
            again = runner.why(g, fewer)
            if again and again[0] == bad[0]:
                options = fewer
                continue
        k += n
    g = smaller(g, fails, 240, time.monotonic)
    return g, options


def report(runner, seed, g, options, bad):
    g, options = reduced(runner, g, options, bad)
    stem = "fault-%d" % seed
    model, given = runner.write(g, stem)
    again = runner.why(g, options) or bad
    subprocess.run([runner.arenac, "convert", "-q", *model, str(runner.dir / (stem + ".ag"))], capture_output=True)
    line = "arenac run %s %s" % (" ".join(model + given), " ".join(options))
    (runner.dir / (stem + ".txt")).write_text("%s: %s\n%s\n" % (again[0], again[1], line))
    print("seed %d: %s: %s\n    %s\n    %s" % (seed, again[0], again[1].split("\n")[0], "  ".join(
        n.op for n in g.nodes), line), flush=True)


@dataclasses.dataclass
class Count:
    ops: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    refused: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    runs: int = 0
    faults: int = 0


def option_sets(r, backends):
    """Those of the runs of a graph: two of the interpreter, and now and then another backend."""
    sets = [some_options(r) + ["--backend", "eval"], some_options(r) + ["--backend", "eval"]]
    sets[1] += ["-t", str(r.choice(TARGETS))]
    if backends and r.random() < 0.3:
        b = str(r.choice(backends))
        target = {"cuda-emu": ["-t", "cuda-sm80"], "prove": ["-t", str(r.choice(TARGETS))]}.get(b, [])
        sets.append(some_options(r) + ["--backend", b] + target)
    return sets


def one_graph(runner, seed, nodes, backends, count):
    r = np.random.default_rng([seed, 1])
    g = runner.kind.make(seed, int(r.integers(1, nodes + 1)))
    count.ops.update({n.op for n in g.nodes})
    for options in option_sets(r, backends) if g.outputs else []:
        try:
            bad = runner.why(g, options)
        except Exception as e:  # the framework refuses the whole of what it took node by node
            count.refused["framework: " + kind_of(str(e))] += 1
            return
        count.runs += 1
        if bad and not bad[0]:
            count.refused[kind_of(bad[1])] += 1
        elif bad:
            count.faults += 1
            report(runner, seed, g, options, bad)
            return


def main():
    p = argparse.ArgumentParser()
    p.add_argument("arenac")
    p.add_argument("dir")
    p.add_argument("--graphs", type=int, default=200)
    p.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    p.add_argument("--kind", default="onnx")
    p.add_argument("--nodes", type=int, default=14)
    p.add_argument("--keep-going", action="store_true")
    p.add_argument("--backends", default=",".join(BACKENDS))
    o = p.parse_args()
    kind = __import__(o.kind + "_graphs")
    pathlib.Path(o.dir).mkdir(parents=True, exist_ok=True)
    runner = Runner(o.arenac, o.dir, kind)
    backends = [b for b in o.backends.split(",") if b]
    print("seed %d" % o.seed, flush=True)
    count, seed = Count(), o.seed
    try:
        for seed in range(o.seed, o.seed + o.graphs):
            one_graph(runner, seed, o.nodes, backends, count)
            if count.faults and not o.keep_going:
                break
    except KeyboardInterrupt:  # what has been done is summed up
        pass
    for text, n in count.refused.most_common(12):
        print("refused %d: %s" % (n, text))
    print("%d graphs, %d operators, %d runs, %d refused, %d faults" % (
        seed - o.seed + 1, len(count.ops), count.runs, sum(count.refused.values()), count.faults))
    return bool(count.faults)


if __name__ == "__main__":
    sys.exit(main())
