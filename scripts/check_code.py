#!/usr/bin/env python3
"""The generated C of every model here and of every public one, built by several compilers, under sanitizers and for
other machines, checks itself (--emit selftest: stored inputs, or those of a seed; outputs of the evaluator, bit for
bit).

    scripts/check_code.py                           all models, every way below
    scripts/check_code.py --ways gcc,s390x PATTERN  models whose path has PATTERN, two ways

    gcc, clang    ASan and UBSan, dead bytes overwritten (--poison)
    threads       ThreadSanitizer, --threads 3, with a pool of two and of three threads
    m32           i386, gcc with SSE2, by qemu-i386 where this machine does not run it
    s390x         big-endian, by qemu-s390x
    valgrind      the ten smallest models

Prints a row for each that fails and a table of the ways. Exit status: 1 if one fails. A missing compiler or emulator is
reported and its way skipped; models that take longer than --timeout are counted."""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile

import prove_models

ROOT = prove_models.ROOT
COMMON = "-std=c99 -ffp-contract=off -g -Wall -Wextra -Werror -DM_SELFTEST_MAIN".split()
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
VALGRIND_MODELS = 10


def ways():
    """For each way: options of arenac, the compiler's command, the emulator, required tools."""
    pool, runtime = os.path.join(ROOT, "tests", "cli", "code", "pool_main.c"), os.path.join(ROOT, "runtime")
    threads = ["gcc", "-std=gnu11", "-ffp-contract=off", "-g", "-O1", "-fsanitize=thread", "-pthread", "-I" + runtime,
               pool, os.path.join(runtime, "arn_pool.c")]
    return {
        "gcc": (["--poison"], ["gcc", "-O1", *COMMON, *SANITIZED], [], ["gcc"]),
        "clang": (["--poison"], ["clang", "-O1", *COMMON, *SANITIZED], [], ["clang"]),
        "threads": (["--threads", "3"], threads, ["setarch", "-R"], ["gcc", "setarch"]),
        # other machines compute floats in double, or with the x87, by default
        "m32": (["--poison"], ["i686-linux-gnu-gcc", "-static", "-O1", "-msse2", "-mfpmath=sse", *COMMON],
                ["qemu-i386"], ["i686-linux-gnu-gcc", "qemu-i386"]),
        "s390x": (["--poison"], ["s390x-linux-gnu-gcc", "-static", "-O1", "-fexcess-precision=fast", *COMMON],
                  ["qemu-s390x"], ["s390x-linux-gnu-gcc", "qemu-s390x"]),
        "valgrind": ([], ["gcc", "-O1", *COMMON], ["valgrind", "-q", "--error-exitcode=9"], ["gcc", "valgrind"]),
    }


def inputs_of(args, shapes):
    """Options that give inputs: arbitrary indices are not a valid input of a language model."""
    stored = [os.path.join(os.path.dirname(args[0]), "input%d_0.npy" % i) for i in range(len(shapes))]
    if not stored or not all(map(os.path.exists, stored)):
        return ["--random", "3"]
    return [a for i, f in enumerate(stored) for a in ("--input", "%d=%s" % (i, f))]


def check(o, work, args, shapes, way):
    """(status, output)."""
    options, cc, run, _ = way
    code, program = os.path.join(work, "m.c"), os.path.join(work, "m")

    def step(*command):
        r = subprocess.run(command, text=True, capture_output=True, errors="replace", timeout=o.timeout, cwd=work)
        return r.returncode, r.stdout + r.stderr

    def compiled(more):
        return step(o.arenac, "compile", "-q", *args, *more, "--name", "m", "--emit", "c,h,selftest", "--weights",
                    "rodata", *inputs_of(args, shapes), *options, "-o", code)
    try:
        status, said = compiled([])
        if "[E0204]" in said:
            status, said = compiled(prove_models.pins(said, shapes))
        if status:
            return "unsupported" if status == prove_models.UNSUPPORTED else "arenac", said
        status, said = step(*cc, "-I.", "m.c", "m.selftest.c", "-lm", "-o", program)
        if status:
            return "compiler", said
        status, said = step(*run, program)
        return ("fails", said) if status else ("passes", said)
    except subprocess.TimeoutExpired as e:
        return "no end", " ".join(map(str, e.cmd[:4]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("pattern", nargs="?", default="")
    p.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    p.add_argument("--ways", default="gcc,clang,threads,m32,s390x,valgrind")
    p.add_argument("--timeout", type=int, default=600, help="seconds of one step")
    o = p.parse_args()
    o.arenac = os.path.abspath(o.arenac)
    table = collections.defaultdict(collections.Counter)
    found = [m for m in prove_models.models() if o.pattern in m[0]]
    small = sorted(found, key=lambda m: sum(os.path.getsize(f) for f in m[1] if os.path.isfile(f)))[:VALGRIND_MODELS]
    with tempfile.TemporaryDirectory() as work:
        for name, way in ways().items():
            if name not in o.ways.split(","):
                continue
            missing = [c for c in way[3] if not shutil.which(c)]
            if missing:
                print("skipped: %s: %s is missing" % (name, missing[0]))
                continue
            for model, args, shapes in small if name == "valgrind" else found:
                what, said = check(o, work, args, shapes, way)
                table[name][what] += 1
                if what != "passes":
                    print("%-9s %-12s %s: %s" % (name, what, model, "\n    ".join(said.split("\n")[:8])), flush=True)
    columns = "passes", "fails", "compiler", "arenac", "unsupported", "no end"
    print("%-10s" % "way" + "".join("%12s" % c for c in columns))
    for name, c in table.items():
        print("%-10s" % name + "".join("%12d" % c[k] for k in columns))
    return any(c[k] for c in table.values() for k in ("fails", "compiler", "arenac")) or not table


if __name__ == "__main__":
    sys.exit(main())
