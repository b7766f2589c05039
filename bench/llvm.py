#!/usr/bin/env python3
"""Objects of the LLVM backend against the C backend and the best C compiler at hand, on the models of bench/run.py.

    bench/llvm.py                        all models, one thread
    bench/llvm.py --only int8 --rounds 30
    bench/llvm.py --cc gcc --cc "clang -O3"      other compilers (default: gcc and clang, as far as they are there)
    bench/llvm.py --target x86-64-v3

All builds of a model have one plan, so one process loads them all and runs them turn by turn on the same arena
(versus.c). A round gives one ratio, LLVM's time to that of the compiler with the least median; the median of these
ratios is the figure: slowdowns of the machine that last longer than a round cancel out. Outputs are compared byte by
byte. Ends with the number of models above --limit."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys

import run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--cc", action="append", default=[], metavar="COMMAND", help="a C compiler, with options; repeat")
    ap.add_argument("--flags", default="-O2 -ffp-contract=off", help="for all of them, before their own")
    ap.add_argument("--target", default="native", help="as for arenac -t")
    ap.add_argument("--also", default="", metavar="OPTIONS", help="more options of arenac compile, for all builds")
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"))
    ap.add_argument("--python", default=os.path.join(ROOT, "build", "bench", "venv", "bin", "python"),
                    help="has onnx, to make models")
    ap.add_argument("--rounds", type=int, default=15)
    ap.add_argument("--ms", type=float, default=30, help="per build and round; models that take longer run twice")
    ap.add_argument("--limit", type=float, default=1.05)
    ap.add_argument("--only", default="", help="models whose name or file contains this")
    return ap.parse_args()


def quiet(cmd, cwd):
    r = subprocess.run(cmd, cwd=cwd, capture_output=True, text=True)
    if r.returncode:
        print("%s: %s" % (cmd[0], (r.stderr or r.stdout).strip().split("\n")[0]))
    return r.returncode == 0


def build(o, model, folder):
    """[(label, library)], the last one LLVM's, and the program that times them; None when a part cannot be built."""
    os.makedirs(folder, exist_ok=True)
    common = ["-q", os.path.abspath(model), "--name", "net", "-t", o.target] + o.also.split()
    if not quiet([o.arenac, "compile", "--emit", "o,h", "-o", "net"] + common, folder):
        return None
    os.replace(os.path.join(folder, "net.h"), os.path.join(folder, "llvm.h"))
    if not quiet([o.arenac, "compile", "--weights", "asm", "-o", "net.c"] + common, folder):
        return None
    if not quiet(["cc", "-shared", "net.o", "-o", "llvm.so"], folder):
        return None
    libs = []
    for k, cc in enumerate(o.cc):
        command = cc.split()[:1] + o.flags.split() + cc.split()[1:]
        if quiet(command + ["-fPIC", "-shared", "net.c", "-o", "c%d.so" % k], folder):
            libs.append((cc, "./c%d.so" % k))
    if not libs or not quiet(["cc", "-O2", "-include", "net.h", "-I.", os.path.join(HERE, "versus.c"), "-o", "versus",
                              "-ldl"], folder):
        return None
    return libs + [("llvm", "./llvm.so")]


def measure(o, libs, folder):
    """[[ms of each library] of each round], [bytes that differ]; None when it fails."""
    cmd = ["./versus", str(o.ms), str(o.rounds)] + [so for _, so in libs]
    r = subprocess.run(cmd, cwd=folder, capture_output=True, text=True)
    if r.returncode:
        print(r.stderr.strip() or "%s: status %d" % (cmd[0], r.returncode))
        return None
    rows = [[float(x) for x in line.split()] for line in r.stdout.splitlines()]
    return rows[:-1], rows[-1]


def main():
    o = options()
    o.python = o.python if os.path.exists(o.python) else sys.executable
    o.cc = o.cc or [c for c in ("gcc", "clang") if shutil.which(c)]
    over, ratios = [], []
    for name, file in run.MODELS:
        if o.only.lower() not in (name + " " + file).lower():
            continue
        model = run.find(o, o.python, file)
        folder = os.path.join(o.work, "llvm", os.path.splitext(os.path.basename(file))[0])
        libs = model and build(o, model, folder)
        got = libs and measure(o, libs, folder)
        if not got:
            continue
        rows, differ = got
        best = min(range(len(libs) - 1), key=lambda k: statistics.median(row[k] for row in rows))
        ratio = statistics.median(row[-1] / row[best] for row in rows)
        ratios.append(ratio)
        over += [name] if ratio > o.limit else []
        times = "  ".join("%s %.4f ms" % (label, min(row[k] for row in rows)) for k, (label, _) in enumerate(libs))
        apart = "  outputs differ in %d bytes" % differ[-1] if differ[-1] != differ[best] else ""
        print("%-22s %s  llvm / %s %.3f%s" % (name, times, libs[best][0], ratio, apart), flush=True)
    if ratios:
        print("geometric mean %.3f; %d of %d models above %.2f%s" %
              (run.mean(ratios), len(over), len(ratios), o.limit, ": " + ", ".join(over) if over else ""))
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
