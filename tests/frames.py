#!/usr/bin/env python3
"""The stack that a header states holds for gcc and clang at every level: their reports (-fstack-usage) and the calls
in their assembly give the deepest path of NAME_run.

  frames.py ARENAC FILE...        --target NAME (repeat; default cortex-m4, cortex-m0plus, rv32imac)   --options TEXT

A function that is assembly alone has no frame in a report: its pushes are read. Compared are the figure that arenac
took from compilers and the upper bound that it computes without any. Targets without tools are left out, frames of
libraries are not looked at. Exit 1: a figure is too low, 77: nothing could be compared."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench"))
import board  # noqa: E402

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
NAME = r"([A-Za-z_][\w.]*)"
LABEL = re.compile(NAME + ":")
CALL = re.compile(r"\s+(?:bl|b|b\.w|call|tail|jal|j)\s+" + NAME)
PUSH = re.compile(r"\s*push(?:\.w)?\s+\{([^}]*)\}")
LESS = re.compile(r"\s*sub(?:w|\.w)?\s+sp,\s*(?:sp,\s*)?#(\d+)")


def registers(text):
    n = 0
    for word in text.replace(" ", "").split(","):
        ends = re.findall(r"(?:r|s|d)?(\d+)", word)
        n += int(ends[1]) - int(ends[0]) + 1 if "-" in word and len(ends) > 1 else 1
    return n


def reports(path):
    """Bytes by function; compilers' copies of one count as one."""
    found = {}
    for line in open(path):
        words = line.split("\t")
        name = words[0].rsplit(":", 1)[-1].split(".")[0]
        found[name] = max(found.get(name, 0), int(words[1]))
    return found


def functions(path, frames):
    """(calls, pushed bytes) by function"""
    calls, pushed, now = {}, {}, None
    for line in open(path):
        label, call, push, less = LABEL.match(line), CALL.match(line), PUSH.match(line), LESS.match(line)
        if label and label[1].split(".")[0] in frames:
            now = label[1].split(".")[0]
            calls.setdefault(now, set())
        elif now and call and call[1].split(".")[0] != now:
            calls[now].add(call[1].split(".")[0])
        elif now and (push or less):
            pushed[now] = pushed.get(now, 0) + (4 * registers(push[1]) if push else int(less[1]))
    return calls, pushed


def deepest(root, frames, calls, pushed):
    own = frames.get(root, 0) or pushed.get(root, 0)
    return own + max((deepest(f, frames, calls, pushed) for f in calls.get(root, ())), default=0)


def header(o, model, target, more, folder):
    command = [o.arenac, "compile", "-q", "-t", target, model, "--name", "net", "--emit", "c,h", "-o",
               os.path.join(folder, "net"), *o.options.split(), *more]
    subprocess.run(command, check=True)
    return os.path.join(folder, "net.h")


def one(o, b, model):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        headers = header(o, model, b["name"], [], folder), header(o, model, b["name"], ["--stack", "estimate"], other)
        for cc in ("gcc", "clang") if board.clang() else ("gcc",):
            words = board.clang_words(b) if cc == "clang" else [b["prefix"] + "gcc", *b["cpu"].split(),
                                                                *b["libc"].split()]
            for level in LEVELS:
                out = os.path.join(folder, "out.s")
                board.call(words + [level, "-w", "-std=gnu11", "-fstack-usage", "-I" + folder, "-S",
                                    os.path.join(folder, "net.c"), "-o", out])
                frames = reports(os.path.join(folder, "out.su"))
                bytes_ = deepest("net_run", frames, *functions(out, frames))
                stated = [board.defines(h, level, cc)["NET_STACK_BYTES"] for h in headers]
                what = "%s on %s, %s %s: %d B, stated %d, without compilers %d" % (
                    os.path.basename(model), b["name"], cc, level, bytes_, *stated)
                o.done += 1
                if not 0 < bytes_ <= min(stated):
                    o.failed += 1
                    print("FAILED: " + what)
                elif o.verbose:
                    print(what, flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("arenac")
    ap.add_argument("files", nargs="+")
    ap.add_argument("--target", action="append")
    ap.add_argument("--options", default="")
    ap.add_argument("-v", "--verbose", action="store_true")
    o = ap.parse_intermixed_args()
    o.done = o.failed = 0
    boards = board.read_boards()
    for target in o.target or ("cortex-m4", "cortex-m0plus", "rv32imac"):
        if board.missing(boards[target]):
            print("left out: the tools for %s are missing" % target)
            continue
        for model in o.files:
            one(o, boards[target], model)
    print("%d compared, %d failed" % (o.done, o.failed))
    return 1 if o.failed else 0 if o.done else 77


if __name__ == "__main__":
    sys.exit(main())
