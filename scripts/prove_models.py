#!/usr/bin/env python3
"""arenac prove for every model here and every public one, on several targets: unproven claims, and the time it took.

    scripts/prove_models.py                              all models on the targets below
    scripts/prove_models.py --targets cortex-m4 PATTERN  models whose path has PATTERN, on one target
    scripts/prove_models.py --options '--stripe auto'    with options of arenac prove
    scripts/prove_models.py -v                           each claim that is left

Prints a row for each model and target that is not proven, and a table of the targets. Exit status: 1 if a claim is
left, a run fails or takes longer than --timeout. Without the shared folder, only the models here are proven, and the
output states that."""
import argparse
import collections
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = ("generic,native,cortex-m4,cortex-m0plus,cortex-m55,cortex-m55-mve,x86-64-v2,x86-64-v3,x86-64-v4,"
           "x86-64-v4-vnni,x86-64-v4-amx,aarch64-i8mm,rv64gcv,rv32imac,wasm32")
UNSUPPORTED = 8


def models():
    """(name, arguments of arenac, shapes of inputs by name) of each model."""
    here = os.path.join(ROOT, "models")
    for f in sorted(glob.glob(here + "/*.tflite") + glob.glob(here + "/*.ag")):
        yield os.path.basename(f), [f], {}
    for f in sorted(glob.glob(os.path.join(ROOT, "..", "shared", "models", "*", "*", "model.json"))):
        with open(f) as text:
            d = json.load(text)
        folder = os.path.dirname(f)
        args = [os.path.join(folder, d["file"])]
        if d.get("weights"):
            args.append(os.path.join(folder, d["weights"]))
        if d["format"].startswith("tf-") or d["format"] == "tf":
            args += ["--outputs", ",".join(o["name"] for o in d["outputs"])]
        args += [a.replace("{dir}", folder) for a in d.get("args", [])]
        yield "/".join(folder.split(os.sep)[-2:]), args, {i["name"]: i["shape"] for i in d["inputs"]}


def pins(said, shapes):
    """--dim for the sizes that the model leaves open: those of its stored inputs."""
    args = []
    sizes = re.findall(r"the size of dimension (\d+) of input '([^']*)'", said)
    options = re.findall(r"help: pin (?:it|them): (.*)", said)[-1:] # after those of unknown ranks
    for (k, name), option in zip(sizes, shlex.split(" ".join(options))[1::2]):
        args += ["--dim", option.replace("=N", "=%d" % shapes[name][int(k)])]
    for name in re.findall(r"the number of dimensions of input '([^']*)'[^\n]*\n[^\n]*pin them", said):
        args += [a for k, n in enumerate(shapes[name]) for a in ("--dim", "%s.%d=%d" % (name, k, n))]
        args += ["--dim", name + "=scalar"] if not shapes[name] else []
    return args


def prove(o, args, shapes, target):
    """(status, seconds, output)."""
    start = time.monotonic()
    try:
        words = [o.arenac, "prove", *args, "-t", target, *o.options.split()]
        r = subprocess.run(words, text=True, capture_output=True, timeout=o.timeout)
        more = pins(r.stderr, shapes) if "[E0204]" in r.stderr else []
        if more:
            return prove(o, args + more, {}, target)
    except subprocess.TimeoutExpired:
        return "no end", o.timeout, "more than %d s" % o.timeout
    seconds = time.monotonic() - start
    said = r.stdout + r.stderr
    if r.returncode == 0:
        return "proven", seconds, said
    if "[E0703]" in said:
        return "left", seconds, said
    if r.returncode == UNSUPPORTED:
        return "unsupported", seconds, said
    return "fault", seconds, said


def main():
    p = argparse.ArgumentParser()
    p.add_argument("pattern", nargs="?", default="")
    p.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    p.add_argument("--targets", default=TARGETS)
    p.add_argument("--options", default="")
    p.add_argument("--timeout", type=int, default=300)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    table = collections.defaultdict(collections.Counter)
    slowest = collections.defaultdict(lambda: (0, ""))
    n = 0
    for name, args, shapes in models():
        if o.pattern not in name:
            continue
        n += 1
        for t in o.targets.split(","):
            what, seconds, said = prove(o, args, shapes, t)
            table[t][what] += 1
            slowest[t] = max(slowest[t], (seconds, name))
            if what == "proven":
                continue
            lines = [line for line in said.split("\n") if line.strip()]
            last = next((line for line in lines if "claims proven" in line), lines[-1] if lines else "nothing said")
            print("%-15s %-12s %s: %s" % (t, what, name, last[last.find(": ") + 2:]), flush=True)
            if o.v:
                print("\n".join(line for line in lines if line.startswith("  ")), flush=True)
    if not glob.glob(os.path.join(ROOT, "..", "shared", "models", "*")):
        print("skipped: no public models beside the repository")
    print("%-16s %7s %7s %7s %12s %6s  slowest" % ("target", "proven", "left", "no end", "unsupported", "fault"))
    for t, c in table.items():
        print("%-16s %7d %7d %7d %12d %6d  %.1f s %s" % (t, c["proven"], c["left"], c["no end"], c["unsupported"],
                                                        c["fault"], *slowest[t]))
    return any(c["left"] or c["no end"] or c["fault"] for c in table.values())


if __name__ == "__main__":
    sys.exit(main())
