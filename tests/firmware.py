#!/usr/bin/env python3
"""Generated code on QEMU's boards: bit for bit as the evaluator, on no more stack than the header says.

  firmware.py ARENAC random COUNT [--seed N] [--nodes 40]     random operators (random_nets.py), COUNT in all
  firmware.py ARENAC models FILE...                           models, three sets of inputs each

  --target NAME     repeat; default cortex-m4, cortex-m55, cortex-m0plus, rv32imac, rv32imac-zve32x
  --emit c,o        forms; an object needs arenac's LLVM
  --options TEXT    more options for arenac compile; repeat, each is tried by itself (default: '' and '--stripe auto')
  --opt -O2         of the C compiler
  --cc gcc,clang    C compilers
  --keep DIR        what fails stays there

The stack of a header is the most of gcc and clang at all levels. For a model it may be twice the measured one and
128 B; for random operators, which need not go down the deepest path, it is only a bound. Targets whose tools are
missing are skipped and reported. Exit 1 when anything failed, 77 when no target is left."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bench"))
import board  # noqa: E402
import random_nets  # noqa: E402

TARGETS = ["cortex-m4", "cortex-m55", "cortex-m0plus", "rv32imac", "rv32imac-zve32x"]
KINDS = ("conv", "depthwise", "dense", "sum")
NO_ROOM = ("will not fit", "overflowed by")


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("arenac")
    ap.add_argument("what", choices=("random", "models"))
    ap.add_argument("args", nargs="+")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--nodes", type=int, default=40)
    ap.add_argument("--target", action="append")
    ap.add_argument("--emit", default="c,o")
    ap.add_argument("--options", action="append")
    ap.add_argument("--opt", default="-O2")
    ap.add_argument("--cc", default="gcc")
    ap.add_argument("--keep")
    o = ap.parse_intermixed_args()
    o.options = o.options if o.options is not None else ["", "--stripe auto"]
    o.failed = o.ran = o.left_out = 0
    return o


def fail(o, folder, model, what, why):
    o.failed += 1
    print("FAILED: %s: %s" % (what, why.strip()[-1500:]), flush=True)
    if o.keep:
        to = os.path.join(o.keep, "%d" % o.failed)
        shutil.copytree(folder, to)
        shutil.copy(model, to)


def one(o, b, model, name, kind, more, cc):
    """One program: compiled, run, compared."""
    what = " ".join(filter(None, (name, b["name"], kind, more, cc)))
    with tempfile.TemporaryDirectory() as folder:
        command = [o.arenac, "compile", "-q", "-t", b["name"], model, "--name", "net", "--emit", kind + ",h,selftest",
                   "-o", os.path.join(folder, "net"), "--vectors", "3", "--random", str(o.seed)] + more.split()
        r = subprocess.run(command, capture_output=True, text=True)
        if r.returncode:
            return fail(o, folder, model, what, r.stderr)
        try:
            _, elf = board.build(b, "net", os.path.join(folder, "net." + kind),
                                 os.path.join(folder, "net.selftest.c"), folder, o.opt, cc=cc)
            r = board.run(b, elf, 3000)
        except board.Failed as e:
            if any(w in str(e) for w in NO_ROOM):
                o.left_out += 1
                print("left out: %s does not fit the board" % what, flush=True)
                return None
            return fail(o, folder, model, what, str(e))
        o.ran += 1
        if r["status"]:
            fail(o, folder, model, what, "an output differs" if r["status"] == 100 else "status %d" % r["status"])
        stated = board.defines(os.path.join(folder, "net.h"), o.opt, cc)["NET_STACK_BYTES"]
        most = 2 * r["stack"] + 128 if o.what == "models" and "estimate" not in more else 1e9
        if not r["stack"] <= stated <= most:
            fail(o, folder, model, what, "it took %d B of stack, the header says %d" % (r["stack"], stated))
    return None


def each_form(o, boards, model, name):
    for b in boards:
        for kind in o.emit.split(","):
            for more in o.options:
                for cc in o.cc.split(",") if kind == "c" else ["gcc"]:
                    one(o, b, model, name, kind, more, cc)


def main():
    o = options()
    boards, all_boards = [], board.read_boards()
    for t in o.target or TARGETS:
        packages = board.missing(all_boards[t])
        if packages:
            print("skipped: the tools for %s are missing: install %s" % (t, packages))
        else:
            boards.append(all_boards[t])
    if not boards or ("clang" in o.cc and not board.clang()):
        return 77
    if o.what == "models":
        for path in o.args:
            each_form(o, boards, path, os.path.basename(path))
    for at in range(0, int(o.args[0]) if o.what == "random" else 0, o.nodes):
        seed, nodes = o.seed + at // o.nodes, min(o.nodes, int(o.args[0]) - at)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "random_%d.ag" % seed)
            with open(path, "w") as f:
                f.write(random_nets.make(seed, nodes, KINDS))
            each_form(o, boards, path, "random_%d" % seed)
    print("%d programs ran, %d failed, %d do not fit" % (o.ran, o.failed, o.left_out))
    return 1 if o.failed or not o.ran else 0


if __name__ == "__main__":
    sys.exit(main())
