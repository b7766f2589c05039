#!/usr/bin/env python3
"""Figures of the kernels for NVIDIA GPUs, which may only fall: figures.py ARENAC SOURCE_DIR [--accept] [--us] [NAME...]

Compares with figures.txt what `plan --json` counts of each model (sm_90): launches; those of fewer than 8 blocks that
load and store more than 40,000 bytes; those of one thread; KiB that all launches move, each byte once for a launch.
With --us also the microseconds that ../shared/cuda/static.py models of the machine code; it needs NVIDIA's wheels (see
there). A figure that rises is a failure; one that falls is to be accepted, which writes the table. Models of ../shared
are omitted if it is missing, those that bench/models.py makes without the Python package onnx.
Exit status: 0 as the table, 1 not, 77 no model at all."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "figures.txt")
COLUMNS = ("launches", "few", "one", "kib", "us")
FEW_BLOCKS, MUCH = 8, 40000
TARGET = "cuda-sm90"


def source(o, where, name):
    """The file of a model; None: something is missing."""
    if where == "models":
        return os.path.join(o.src, "models", name)
    if where in ("bench", "gpt"):
        made = os.path.join(o.work, name + ".onnx")
        script = [os.path.join(o.src, "bench", "models.py"), o.work, name] if where == "bench" else \
            [os.path.join(o.shared, "cuda", "gpt_step.py"), made, name[-3:]]
        done = subprocess.run([sys.executable] + script, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return made if done.returncode == 0 and os.path.exists(made) else None
    folder = os.path.join(o.shared, "models", where, name)
    if not os.path.isdir(folder):
        return None
    return next(os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith((".tflite", ".onnx")))


def count(o, path):
    r = subprocess.run([o.arenac, "plan", "-q", "--json", "-t", TARGET, path], capture_output=True, text=True)
    if r.returncode:
        sys.exit("%s: %s" % (path, r.stderr.strip()))
    rows = json.loads(r.stdout)["launches"]
    return {"launches": len(rows), "few": sum(x["blocks"] < FEW_BLOCKS and x["traffic_bytes"] > MUCH for x in rows),
            "one": sum(x["blocks"] * x["threads"] == 1 for x in rows),
            "kib": sum(x["moved_bytes"] for x in rows) // 1024}


def without_retries():
    """static.py takes the branch back from a wait that tries again, behind the kernel's end, for a loop over all that
    follows the wait."""
    import sass
    made = sass.Kernel.__init__

    def make(self, name, lines):
        made(self, name, lines)
        self.loops = [x for x in self.loops if self.ins[x[1]].guard or self.ins[x[1] - 2].op != "SYNCS"]
    sass.Kernel.__init__ = make


def run_static(shared, words):
    sys.path.insert(0, os.path.join(shared, "cuda"))
    sys.argv = [os.path.join(shared, "cuda", "static.py")] + words
    without_retries()
    import static
    return static.main()


def modelled(o, path):
    out = os.path.join(o.work, "static.json")
    subprocess.run([sys.executable, os.path.abspath(__file__), "--static", o.shared, "--arenac", o.arenac, "--work",
                    o.work, "--targets", TARGET, "--models", path, "--json", out], stdout=subprocess.DEVNULL)
    row = json.load(open(out))[0] if os.path.exists(out) else {}
    return row.get("us")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("arenac")
    p.add_argument("src")
    p.add_argument("names", nargs="*")
    p.add_argument("--accept", action="store_true")
    p.add_argument("--us", action="store_true")
    o = p.parse_args()
    o.shared = os.environ.get("ARENAC_SHARED", os.path.join(o.src, "..", "shared"))
    lines, bad, seen = open(TABLE).read().split("\n"), 0, 0
    with tempfile.TemporaryDirectory() as o.work:
        for n, line in enumerate(lines):
            if not line or line.startswith("#"):
                continue
            where, name = line.split()[:2]
            was = dict(zip(COLUMNS, line.split()[2:]))
            path = source(o, where, name) if not o.names or name in o.names else None
            if not path:
                continue
            seen += 1
            now = count(o, path)
            us = modelled(o, path) if o.us else None
            if us is not None:
                now["us"] = us
            for c in now:
                if was.get(c, "-") != str(now[c]):
                    more = was.get(c, "-") == "-" or now[c] > int(was[c])
                    bad |= more
                    print("%s: %s %s %s" % (name, now[c], c, "more than %s" % was.get(c) if more else
                                            "less than %s: accept" % was[c]))
            row = [str(now.get(c, was.get(c, "-"))) for c in COLUMNS]
            lines[n] = "%-7s %-32s" % (where, name) + "".join("%9s" % x for x in row)
    if o.accept:
        open(TABLE, "w").write("\n".join(lines))
    print("%d models" % seen)
    return 77 if not seen else 0 if o.accept else bad


if __name__ == "__main__":
    sys.exit(run_static(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--static"] else main())
