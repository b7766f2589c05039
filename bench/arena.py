#!/usr/bin/env python3
"""Bytes of the arena of known networks, plain, with overlap, with stripes, and with a streamed input, each with its
target and the ratio to it.

    bench/arena.py                       the table
    bench/arena.py --verify              also runs every plan against the plain one: generic C with dead bytes
                                         poisoned, and the evaluator
    bench/arena.py --only kws --markdown table.md

All at --align 4, -t generic; graph inputs and outputs, windows of rows and scratch are counted. Models are those of the
shared folder next to the checkout; without it, the script reports that and exits with 0. Exit status 1 when a figure is
above its target or outputs differ."""
import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
COLUMNS = [
    ("plain", []),
    ("overlap", ["--overlap", "on"]),
    ("stripes", ["--stripe", "auto"]),
    ("by rows", ["--io", "rows", "--stripe", "auto"]),
]
# name, options of all columns, targets of the columns (None: none is set)
MODELS = [
    ("kws_dscnn_int8", [], (16000, 8400, 4950, 4650)),
    ("ic_resnet8_int8", [], (49152, 33400, 12750, 10000)),
    ("person_detect_int8", [], (55296, 36900, 13950, 13100)),
    ("mobilenet_v1_025_96_int8", [], (55296, 36900, 27800, 13700)),
    ("mobilenet_v2_100_224_int8", [], (1505280, 1205000, 194500, 121000)),
    ("mcunet_person_det_int8", ["--quantized-io"], (None, 164000, 73500, None)),
    ("efficientnet_b0_w05_128_int8", [], (589824, 197000, 115500, None)),
    ("unet_d4_96_int8", [], (294912, 221500, 147600, None)),
]


def report(arenac, model, options):
    done = subprocess.run([arenac, "plan", model, "--align", "4", "--json"] + options, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{model}: {done.stderr}")
    return json.loads(done.stdout)["plan"]


def outputs(arenac, model, options, backend, folder):
    command = [arenac, "run", "-q", model, "-t", "generic", "--backend", backend, "--random", "1",
               "--output-dir", folder]
    done = subprocess.run(command + options, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command + options)}: {done.stderr}")
    return sorted(os.listdir(folder))


def same_outputs(arenac, model, options, column, tmp):
    want = os.path.join(tmp, "want")
    names = outputs(arenac, model, options, "eval", want)
    for backend in ("eval", "c"):
        got = os.path.join(tmp, "got")
        poison = ["--poison"] if backend == "c" else []
        outputs(arenac, model, options + column + ["--align", "4"] + poison, backend, got)
        if not all(filecmp.cmp(os.path.join(want, n), os.path.join(got, n), shallow=False) for n in names):
            return False
    return True


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--shared", default=os.environ.get("ARENAC_SHARED", os.path.join(ROOT, "..", "shared")))
    ap.add_argument("--only", default="", help="models whose name contains this")
    ap.add_argument("--verify", action="store_true", help="run every plan and compare its outputs bit for bit")
    ap.add_argument("--markdown", help="write the table to this file too")
    a = ap.parse_args()
    rows, missed = [], 0
    for name, options, target in MODELS:
        model = os.path.join(a.shared, "models", "tflite", name, name + ".tflite")
        if a.only not in name or not os.path.exists(model):
            continue
        cells = [" ".join([f"`{name}`"] + options)]
        for (title, column), most in zip(COLUMNS, target):
            plan = report(a.arenac, model, options + column)
            have = plan["arena_bytes"]
            cell = f"{have:,}"
            if most is not None:
                missed += have > most
                cell += f" (of {most:,}: {have / most:.3f}{', MISSED' if have > most else ''})"
            if a.verify and column:
                with tempfile.TemporaryDirectory() as tmp:
                    equal = same_outputs(a.arenac, model, options, column, tmp)
                missed += not equal
                cell += ", same bits" if equal else ", DIFFERENT OUTPUTS"
            cells.append(cell)
        rows.append(cells)
        print("  ".join(cells), flush=True)
    if not rows:
        print("no models to measure: the shared folder is missing")
        return 0
    if a.markdown:
        with open(a.markdown, "w", encoding="utf-8") as f:
            f.write("| model | " + " | ".join(t for t, _ in COLUMNS) + " |\n|---" + "|---" * len(COLUMNS) + "|\n")
            f.writelines("| " + " | ".join(r) + " |\n" for r in rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
