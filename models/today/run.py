#!/usr/bin/env python3
"""Makes models of zoo.py, runs each with arenac and its reference, and prints a table.

  run.py ARENAC [--folder DIR] [--no-time] [--limit SECONDS] [--beside BACKEND] [PATTERN ..]

A row: model, verdict (equal, close, differs, refused and why, not made), largest difference (of the largest
value), time against the reference's on one thread, seconds and MiB of `arenac compile`, bytes of arena; with
--beside llvm whether the bits of that backend are those of C. References:
ONNX Runtime, LiteRT (its reference kernels for results, its fast ones for time). Everything is made anew from seeds.
"""
import argparse
import contextlib
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np


# A process of its own starts programs: the peak of memory that the system counts for a program begins with that of
# the process that started it, which has the frameworks in it.
STARTER = """
import json, os, signal, subprocess, sys, time
def late(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, late)
for line in sys.stdin:
    words, limit = json.loads(line)
    begin = time.time()
    p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    signal.alarm(limit)
    try:
        text = p.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(p.pid, 0)
        status, mib = os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024
    except TimeoutError:
        os.killpg(p.pid, signal.SIGKILL)
        os.wait4(p.pid, 0)
        status, text, mib = 124, "more than %d s" % limit, 0
    signal.alarm(0)
    print(json.dumps([status, text, time.time() - begin, mib]), flush=True)
"""
starter = subprocess.Popen([sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def call(words, limit):
    """Exit status, output and errors, seconds, peak MiB."""
    starter.stdin.write((json.dumps([words, limit]) + "\n").encode())
    starter.stdin.flush()
    return json.loads(starter.stdout.readline())


def late(*_):
    raise TimeoutError


def difference(got, want):
    """The largest difference as a share of the largest value; inf: other shapes, or other places of NaN."""
    worst = 0.0
    if len(got) != len(want):
        return float("inf")
    for a, b in zip(got, want):
        a, b = np.asarray(a), np.asarray(b)
        if a.size != b.size:
            return float("inf")
        a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
        if np.isnan(a).any() or np.isnan(b).any():
            if not (np.isnan(a) == np.isnan(b)).all():
                return float("inf")
            a, b = np.nan_to_num(a), np.nan_to_num(b)
        if a.size:
            worst = max(worst, np.abs(a - b).max() / max(np.abs(b).max(), 1e-6))
    return worst


def reason(text):
    m = re.search(r"error\[(E\d+)\]: (.*)", text)
    return "%s %s" % m.groups() if m else text.strip().split("\n")[-1]


def first(text):
    """The object that the text begins with, after warnings."""
    return json.JSONDecoder().raw_decode(text[text.index("\n{") + 1 if not text.startswith("{") else 0:])[0]


def best_ms(f, seconds=1.0):
    best, end = 1e9, time.time() + seconds
    while time.time() < end:
        begin = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - begin)
    return best * 1e3


@contextlib.contextmanager
def silence():
    """Exporters print graphs that they cannot write, some not through Python."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def beside(a, words, out):
    """What the other backend makes, beside the results in `out`."""
    other = out + "." + a.beside
    status, text, *_ = call(words + ["--backend", a.beside, "--output-dir", other], a.limit)
    if status:
        return a.beside + " refused: " + reason(text)[:150]
    for f in os.listdir(out):
        with open(os.path.join(out, f), "rb") as x, open(os.path.join(other, f), "rb") as y:
            if x.read() != y.read():
                return "other bits"
    return "same bits"


def row(a, zoo, name):
    path = os.path.join(a.folder, re.sub(r"\W+", "_", name))
    signal.alarm(a.limit)
    try:
        with silence():
            case = zoo.MODELS[name](path)
    except Exception as e:  # pylint: disable=broad-except
        return ["not made: %s %s" % (type(e).__name__, str(e).split("\n")[0][:90])]
    finally:
        signal.alarm(0)
    words, give = [a.arenac], []
    for i, x in enumerate(case.inputs.values()):
        np.save("%s.%d.npy" % (path, i), x)
        give += ["--input", "%d=%s.%d.npy" % (i, path, i)]
    out = path + ".out"
    run = words + ["run", case.path, "-q"] + give
    shutil.rmtree(out, ignore_errors=True)
    status, text, *_ = call(run + ["--output-dir", out], a.limit)
    if status:
        return ["refused: " + reason(text)[:150]]
    got = [np.load(os.path.join(out, "%d.npy" % i)) for i in range(len(case.outputs))]
    worst = difference(got, case.outputs)
    verdict = "equal" if worst == 0 else "close" if worst < 1e-3 else "differs"
    status, text, seconds, mib = call(words + ["compile", case.path, "--json", "-o", path + ".c"], a.limit)
    arena = first(text)["memories"][0]["bytes"] if not status else ""
    ratio = ""
    if not a.no_time:
        status, text, *_ = call(words + ["bench", case.path, "--json", "--runs", "20"] + give, a.limit)
        if not status:
            ratio = "%.2f" % (first(text)["min_ms"] / best_ms(case.reference))
    return [verdict, "%.1e" % worst, ratio, "%.1f" % seconds, "%.0f" % mib, str(arena)] + (
        [beside(a, run, out)] if a.beside else [])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("arenac")
    p.add_argument("--folder", default="today")
    p.add_argument("--no-time", action="store_true")
    p.add_argument("--limit", type=int, default=180)
    p.add_argument("--beside", metavar="BACKEND")
    p.add_argument("pattern", nargs="*")
    a = p.parse_intermixed_args()
    signal.signal(signal.SIGALRM, late)
    import zoo  # pylint: disable=import-outside-toplevel
    os.makedirs(a.folder, exist_ok=True)
    print("model\tverdict\tdifference\ttime\tcompile s\tcompile MiB\tarena B" + (
        "\t" + a.beside if a.beside else ""), flush=True)
    for name in zoo.MODELS:
        if any(fnmatch.fnmatch(name, q) for q in a.pattern or ["*"]):
            print("\t".join([name] + row(a, zoo, name)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
