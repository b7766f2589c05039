#!/usr/bin/env python3
"""Training: steps per second and the arena of a step, compared with PyTorch.

    bench/train.py                                  all networks of ../shared/training
    bench/train.py -m mlp -m gpt --seconds 3        those whose names contain these words; longer bench/train.py
                                                    --threads 2 --arenac OLD/arenac

Steps per second of PyTorch come from peers.json, measured on another machine; if torch is installed,
../shared/training/bench_peers.py measures both alternately in one run, and the output states that. The arena is
compared with the step peak of peers.json: the maximum that PyTorch's allocator held during a step. Without
../shared/training, the script reports that there is nothing to do."""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = re.compile(r"^steps=\d+ seconds=\S+ steps_per_s=(\S+) loss=\S+ peak_bytes=(\d+)$", re.M)


def command(a, d, c, out, steps):
    o = c["optimizer"]
    words = [a.arenac, "train", d / "model.onnx", "--data", f"{c['input']}={d / 'x.npy'}", "--target", d / "y.npy",
             "--loss", c["loss"], "--optimizer", o["name"], "--lr", repr(o["lr"]), "--batch", c["batch"],
             "--steps", steps, "--threads", a.threads, "--backend", a.backend, "-o", out]
    for k in ("momentum", "beta1", "beta2", "eps", "weight_decay"):
        if k in o:
            words += ["--" + k.replace("_", "-"), repr(o[k])]
    return [str(w) for w in words]


def measure(a, d, c, out, steps):
    p = subprocess.run(command(a, d, c, out, steps), capture_output=True, text=True)
    m = LINE.search(p.stdout)
    return (float(m[1]), int(m[2])) if m else sys.exit(f"{d.name}: {p.stderr.strip()}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--arenac", default=ROOT / "build" / "arenac")
    ap.add_argument("--shared", default=os.environ.get("ARENAC_SHARED", ROOT.parent / "shared"), type=pathlib.Path)
    ap.add_argument("-m", "--model", action="append", default=[])
    ap.add_argument("--seconds", type=float, default=1.0)
    ap.add_argument("--threads", default=1)
    ap.add_argument("--backend", default="c")
    a = ap.parse_args()
    folders = sorted((a.shared / "training" / "models").glob("*/train.json"))
    if not folders:
        print("skipped: ../shared/training is missing: it is not part of the repository")
        return 77
    if importlib.util.find_spec("torch"):
        print("torch is installed: bench_peers.py of ../shared/training compares both in one run:\n"
              f"  python3 {a.shared}/training/bench_peers.py --help")
    print("PyTorch's figures are those of peers.json, of one thread of the machine that made them")
    print(f"{'network':20} {'steps/s':>9} {'PyTorch':>9} {'ratio':>6} {'arena B':>11} {'PyTorch':>11} {'ratio':>6}")
    speed, peak = [], []
    for f in folders:
        d, c = f.parent, json.loads(f.read_text())
        if a.model and not any(m in d.name for m in a.model):
            continue
        peers = json.loads((d / "peers.json").read_text())
        with tempfile.TemporaryDirectory() as tmp:
            out = pathlib.Path(tmp) / "w.npz"
            once, _ = measure(a, d, c, out, 3)
            rate, arena = measure(a, d, c, out, max(5, int(once * a.seconds)))
        speed.append(rate / peers["steps_per_second"])
        peak.append(arena / peers["peak_step_bytes"])
        print(f"{d.name:20} {rate:9.1f} {peers['steps_per_second']:9.1f} {speed[-1]:6.2f} {arena:11,} "
              f"{peers['peak_step_bytes']:11,} {peak[-1]:6.2f}", flush=True)
    mean = [math.exp(sum(map(math.log, r)) / len(r)) if r else 0 for r in (speed, peak)]
    print(f"geometric mean: {mean[0]:.2f} times the steps per second, {mean[1]:.2f} times the bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
