#!/usr/bin/env python3
"""The costs of a compiled model apart from its run time: seconds to build, code in bytes, start-up, memory.

    bench/build.py                       the models below
    bench/build.py --only kws            those whose name contains this
    bench/build.py FILE.onnx ...         these files
    bench/build.py --kernels 5           with the five largest kernels of each model

For each model: seconds of arenac and of the C compiler (-O2), bytes of code, distinct kernels and the steps that use
them, milliseconds from the start of a process to the first result (and of a process that does nothing), kilobytes
resident by then. Ends with the number of limits that are missed: MobileNetV2 builds in 20 s, ResNet50 in 40 s, KWS
starts in 2 ms and 3 MB, MobileNetV2 f32 in 25 ms and weights + arena + 5 MB. Timings are minima; on a busy machine
build times are those of the CPU.
"""
import argparse
import os
import re
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MODELS = ["kws", "mobilenetv2", "resnet18", "resnet50"]
LIMITS = {  # name: (seconds to build, ms to start, KB besides weights and arena, or in all)
    "kws": (20, 2, None, 3072),
    "mobilenetv2": (20, 25, 5120, None),
    "resnet50": (40, None, None, None),
}


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("file", nargs="*")
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--target", default="native")
    ap.add_argument("--also", default="", metavar="OPTIONS", help="more options of arenac compile")
    ap.add_argument("--cc", default=os.environ.get("CC", "gcc"))
    ap.add_argument("--flags", default="-O2")
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"))
    ap.add_argument("--python", default=os.path.join(ROOT, "build", "bench", "venv", "bin", "python"),
                    help="has onnx, to make models")
    ap.add_argument("--only", default="")
    ap.add_argument("--kernels", type=int, default=0)
    ap.add_argument("--starts", type=int, default=30)
    return ap.parse_args()


def cpu_seconds(cmd, cwd):
    """CPU time of a command and its children; None with a message when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(cmd, cwd=cwd, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode:
        print("%s: %s" % (cmd[0], (r.stderr or r.stdout).strip().split("\n")[0]))
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def functions(obj):
    """[(bytes, name)] of the code in an object, largest first."""
    out = subprocess.run(["nm", "-S", "--defined-only", obj], capture_output=True, text=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return sorted(((int(r[1], 16), r[3]) for r in rows if len(r) == 4 and r[2] in "tT"), reverse=True)


def look(o, name, model):
    """A row of figures, or None."""
    folder = os.path.join(o.work, "build", name)
    os.makedirs(folder, exist_ok=True)
    c = os.path.join(folder, "net.c")
    made = cpu_seconds([o.arenac, "compile", "-q", os.path.abspath(model), "--name", "net", "-t", o.target,
                        "--weights", "asm", "-o", "net.c"] + o.also.split(), folder)
    if made is None:
        return None
    # the compiler alone; functions that would be inlined count where they are called
    built = cpu_seconds([o.cc] + o.flags.split() + ["-c", "net.c", "-o", "net.o"], folder)
    if built is None:
        return None
    code = functions(os.path.join(folder, "net.o"))
    text = open(c, encoding="utf-8").read()
    steps = len(re.findall(r"^ *NET_STEP_END\(", text, re.M))
    row = {"name": name, "arenac": made, "cc": built, "code": sum(n for n, _ in code), "kernels": code, "steps": steps,
           "weights": os.path.getsize(os.path.join(folder, "net.c.bin")) // 1024}
    link = cpu_seconds([o.cc] + o.flags.split() + ["-I.", "net.o", os.path.join(HERE, "start_net.c"), "-o", "net"],
                       folder)
    if link is not None:
        r = subprocess.run(["./net", str(o.starts)], cwd=folder, capture_output=True, text=True)
        row.update({k: float(v) for k, v in re.findall(r"(\w+)=([\d.]+)", r.stdout)})
    return row


def misses(row):
    """The limits that the row exceeds."""
    if row["name"] not in LIMITS:
        return []
    build, start, besides, resident = LIMITS[row["name"]]
    over = []
    if row["cc"] > build:
        over.append("%s: builds in %.1f s, limit %d" % (row["name"], row["cc"], build))
    if start and row.get("start_ms", 0) > start:
        over.append("%s: starts in %.2f ms, limit %d" % (row["name"], row["start_ms"], start))
    most = resident or (besides and besides + row["weights"] + row.get("arena_kb", 0))
    if most and row.get("resident_kb", 0) > most:
        over.append("%s: %d KB resident, limit %d" % (row["name"], row["resident_kb"], most))
    return over


def find(o, name):
    model = os.path.join(o.work, "onnx", name + ".onnx")
    if not os.path.exists(model):
        python = o.python if os.path.exists(o.python) else sys.executable
        subprocess.run([python, os.path.join(HERE, "models.py"), os.path.dirname(model), name])
    return model if os.path.exists(model) else None


def main():
    o = options()
    models = ([(os.path.splitext(os.path.basename(f))[0], f) for f in o.file] or
              [(m, find(o, m)) for m in MODELS if o.only in m])
    over, seen = [], 0
    print("| model | arenac s | cc s | code B | kernels | steps | start ms | empty process ms | resident KB "
          "| weights KB | arena KB |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, model in models:
        row = look(o, name, model) if model else None
        if not row:
            print("%s: left out" % name)
            continue
        seen += 1
        print("| %s | %.2f | %.2f | %d | %d | %d | %.2f | %.2f | %d | %d | %d |" % (
            name, row["arenac"], row["cc"], row["code"], len(row["kernels"]), row["steps"], row.get("start_ms", 0),
            row.get("floor_ms", 0), row.get("resident_kb", 0), row["weights"], row.get("arena_kb", 0)))
        for size, kernel in row["kernels"][:o.kernels]:
            print("    %8d B  %s" % (size, kernel))
        over += misses(row)
    for line in over:
        print(line)
    print("%d of %d models measured, %d limits missed" % (seen, len(models), len(over)))
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
