#!/usr/bin/env python3
"""Memory compared with other systems, on the same files: TFLite Micro, Arm's Vela, ONNX Runtime and TVM from PyPI.

    bench/beside.py                                  two tables of Markdown, those of docs/comparison.md
    bench/beside.py --only kws --peers tflm,vela
    bench/beside.py --python tvm=/opt/tvm/bin/python   an interpreter that has a peer already; repeat

int8 models of TFLite, RAM and flash of firmware:
  arenac     the arena of a plan: inputs, activations, outputs, scratch; code by arm-none-eabi-gcc -O2 for a Cortex-M4,
             and, run in QEMU, the stack and the instructions
  TFLM       the smallest arena with which the Python package's interpreter runs (64-bit pointers, reference kernels),
             found to 256 B or 0.2 %; its flash is the file; the interpreter with its kernels is not included
  Vela       SRAM and flash of its summary for an Ethos-U55-128, an NPU: no code, and cycles that are an estimate
f32 models of ONNX:
  arenac     as above, generic C
  ORT        the smallest arena of its allocator with which three runs succeed, and the input, which is the caller's
  TVM        what StaticPlanBlockMemory allocates, the largest workspace of a kernel, input and output; its C by the
             same gcc. Pipeline `zero`, untuned. (microTVM with its own planner is no longer part of TVM.)

Peers get environments of their own in build/bench the first time; one that cannot be had is a column of '-', and said.
Models lie in shared/ beside the checkout; without it the script says so and ends with 0.
"""
import argparse
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import board

ROOT, HERE = board.ROOT, os.path.dirname(os.path.abspath(__file__))
PACKAGES = {"tflm": ["tflite-micro", "numpy"], "vela": ["ethos-u-vela"], "ort": ["onnxruntime", "numpy"],
            "tvm": ["apache-tvm", "onnx", "scipy"]}
MODULES = {"tflm": "tflite_micro", "vela": "ethosu.vela", "ort": "onnxruntime", "tvm": "tvm, onnx"}
INT8 = ["kws_dscnn_int8", "ic_resnet8_int8", "mobilenet_v1_025_96_int8", "person_detect_int8", "micro_speech_int8",
        "mobilenet_v2_100_224_int8", "efficientnet_b0_w05_128_int8"]
FLOAT = ["mobilenet_v2_035_224", "resnet18_w12_112", "inception_mini_128", "densenet_k8_128", "unet_d4_128",
         "vit_micro_96"]
M4_FLAGS = "-O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffunction-sections".split()
STEP, PART = 256, 512  # how exactly a smallest arena is found: bytes, or a part of it


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"), help="where environments are made")
    ap.add_argument("--python", action="append", default=[], metavar="PEER=FILE")
    ap.add_argument("--peers", default=",".join(PACKAGES))
    ap.add_argument("--only", default="", help="models whose name contains this")
    ap.add_argument("--json", metavar="FILE", help="all figures")
    return ap.parse_args()


def find_peers(o):
    """o.peer: the Python of each peer that is there, and its version."""
    given, o.peer, o.version = dict(p.split("=", 1) for p in o.python), {}, {}
    for name in filter(None, o.peers.split(",")):
        home = os.path.join(o.work, "venv-" + name)
        python = given.get(name, os.path.join(home, "bin", "python"))
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([python, "-m", "pip", "install", "-q"] + PACKAGES[name])
        ask = "import %s; from importlib.metadata import version; print(version('%s'))" % (MODULES[name],
                                                                                          PACKAGES[name][0])
        r = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        if r.returncode:
            print("%s is left out: %s cannot be imported" % (name, PACKAGES[name][0]), file=sys.stderr)
        else:
            o.peer[name], o.version[name] = python, r.stdout.split()[-1]


def ask(o, peer, *words):
    """Output of beside_peer.py, None when it fails."""
    r = subprocess.run([o.peer[peer], os.path.join(HERE, "beside_peer.py"), peer, *map(str, words)],
                       capture_output=True, text=True, timeout=900)
    return r.stdout if r.returncode == 0 else None


def smallest(o, peer, model, high=64 << 20):
    """From above: an allocator may pass over a limit that is much too small for it."""
    if peer not in o.peer or ask(o, peer, model, high) is None:
        return None
    low = high * 3 // 4
    while low > STEP and ask(o, peer, model, low) is not None:
        high, low = low, low * 3 // 4
    if low <= STEP:
        return None  # it does not keep to any limit
    while high - low > max(STEP, high // PART):
        middle = (low + high) // 2
        low, high = (low, middle) if ask(o, peer, model, middle) is not None else (middle, high)
    return high


def plan(o, model, *more):
    r = subprocess.run([o.arenac, "plan", "-q", "--json", model, *more], capture_output=True, text=True, check=True)
    return json.loads(r.stdout)


def arena(o, model, *more):
    return plan(o, model, *more)["plan"]["arena_bytes"]


def on_board(o, model):
    """Code, weights, stack and instructions on a Cortex-M4; {} without the tools, or where it does not fit."""
    boards = board.read_boards()
    if board.missing(boards["cortex-m4"]):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([o.arenac, "compile", "-q", "-t", "cortex-m4", model, "--name", "net", "--emit",
                        "c,h,selftest", "--random", "1", "-o", os.path.join(folder, "net")], check=True)
        source = [os.path.join(folder, f) for f in ("net.c", "net.selftest.c")]
        try:
            return board.measure(boards["cortex-m4"], "net", *source, folder)
        except board.Failed as e:
            if "will not fit" not in str(e) and "overflowed" not in str(e):
                raise
        return object_sizes([source[0]], folder)


def object_sizes(sources, folder, *more):
    """Code and constants of an object for a Cortex-M4."""
    made = os.path.join(folder, "sizes.o")
    board.call(["arm-none-eabi-gcc", *M4_FLAGS, *more, "-I" + folder, "-c", *sources, "-o", made])
    sizes = {}
    for line in board.call(["arm-none-eabi-size", "-A", made]).splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith("."):
            key = "code" if words[0].startswith(".text") else "rodata" if words[0].startswith(".rodata") else "more"
            sizes[key] = sizes.get(key, 0) + int(words[1])
    return sizes


def vela(o, model, optimise):
    """SRAM and flash bytes of its summary, and the estimate of its cycles."""
    if "vela" not in o.peer:
        return {}
    with tempfile.TemporaryDirectory() as out:
        command = [os.path.join(os.path.dirname(o.peer["vela"]), "vela"), model, "--accelerator-config",
                   "ethos-u55-128", "--optimise", optimise, "--output-dir", out]
        r = subprocess.run(command, capture_output=True, text=True, timeout=900)
        found = glob.glob(os.path.join(out, "*_summary_*.csv"))
        if r.returncode or not found:
            return {}
        with open(found[0], encoding="utf-8") as f:
            row = list(csv.DictReader(f))[-1]
    left = re.search(r"CPU operators = (\d+)", r.stdout + r.stderr)
    return {"sram": round(float(row["sram_memory_used"]) * 1024), "cycles": int(float(row["cycles_total"])),
            "flash": round(float(row["off_chip_flash_memory_used"]) * 1024), "on_cpu": int(left[1]) if left else 0}


def tvm(o, model):
    """RAM of its plan and kernels, without input and output, and the code of its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "tvm.c")
        said = ask(o, "tvm", model, source) if "tvm" in o.peer else None
        if said is None:
            return {}
        work = most = 0  # of one kernel: freed in the order of a stack
        sizes = {}
        for line in open(source, encoding="utf-8"):
            m = re.search(r"\* (\w+) = .*TVMBackendAllocWorkspace\(1, dev_id, \(uint64_t\)(\d+)ULL", line)
            if m:
                sizes[m[1]] = int(m[2])
                work += sizes[m[1]]
                most = max(most, work)
            m = re.search(r"TVMBackendFreeWorkspace\(1, dev_id, (\w+)\)", line)
            if m:
                work -= sizes.pop(m[1])
        made = {"ram": int(re.search(r"storage=(\d+)", said)[1]) + most, "workspace": most}
        if not board.missing(board.read_boards()["cortex-m4"]):
            made.update(object_sizes([source], folder, *["-I" + i for i in re.findall("include=(.*)", said)]))
    return made


def row_int8(o, name, model):
    b = on_board(o, model)
    small, fast = vela(o, model, "Size"), vela(o, model, "Performance")
    return {"model": name, "file": os.path.getsize(model), "arena": arena(o, model),
            "overlap": arena(o, model, "--overlap", "on"), "stripe": arena(o, model, "--stripe", "auto"),
            "rows": arena(o, model, "--stripe", "auto", "--io", "rows"), "code": b.get("code"),
            "weights": b.get("rodata"), "insns": b.get("insns"), "tflm": smallest(o, "tflm", model),
            "vela_size": small.get("sram"), "vela_fast": fast.get("sram"), "vela_flash": small.get("flash"),
            "vela_cycles": fast.get("cycles"), "vela_on_cpu": fast.get("on_cpu")}


def row_float(o, name, model):
    p = plan(o, model)
    ends = sum(t["bytes"] for t in p["tensors"] if t["kind"] in ("input", "output"))
    inputs = sum(t["bytes"] for t in p["tensors"] if t["kind"] == "input")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "net.c")
        subprocess.run([o.arenac, "compile", "-q", model, "--name", "net", "-t", "cortex-m4", "--weights", "blob",
                        "-o", made],
                       check=True)
        sizes = object_sizes([made], folder) if not board.missing(board.read_boards()["cortex-m4"]) else {}
    found, other = smallest(o, "ort", model), tvm(o, model)
    return {"model": name, "arena": p["plan"]["arena_bytes"], "overlap": arena(o, model, "--overlap", "on"),
            "stripe": arena(o, model, "--stripe", "auto"), "code": sizes.get("code"),
            "ort": found and found + inputs, "tvm": other and other["ram"] + ends, "tvm_code": other.get("code")}


def table(columns, rows):
    print("| model | " + " | ".join(t for t, _ in columns) + " |\n|---" + "|---" * len(columns) + "|")
    for r in rows:
        cells = ["-" if not r.get(k) else "%.2f M" % (r[k] / 1e6) if k in ("insns", "vela_cycles") else
                 "{:,}".format(r[k]) for _, k in columns]
        print("| " + r["model"] + " | " + " | ".join(cells) + " |")
    print(flush=True)


def main():
    o = options()
    jobs = [(row, name, os.path.join(o.shared, "models", kind, name, name + "." + kind))
            for row, kind, names in ((row_int8, "tflite", INT8), (row_float, "onnx", FLOAT)) for name in names
            if o.only in name]
    jobs = [j for j in jobs if os.path.exists(j[2])]
    if not jobs:
        print("no models to measure: the shared folder is missing")
        return 0
    find_peers(o)
    rows = {row_int8: [], row_float: []}
    for row, name, model in jobs:
        began = time.monotonic()
        rows[row].append(row(o, name, model))
        print("%s: %.0f s" % (name, time.monotonic() - began), file=sys.stderr, flush=True)
    print("arenac %s; %s\n" % (board.call([o.arenac, "--version"]).split()[1], ", ".join(
        "%s %s" % (PACKAGES[p][0], v) for p, v in o.version.items())))
    if rows[row_int8]:
        print("RAM, bytes\n")
        table([("arenac", "arena"), ("`--overlap on`", "overlap"), ("`--stripe auto`", "stripe"),
               ("and `--io rows`", "rows"), ("TFLM", "tflm"), ("Vela, for size", "vela_size"),
               ("Vela, for speed", "vela_fast")], rows[row_int8])
        print("Flash, bytes, and work of one inference\n")
        table([("arenac: code", "code"), ("arenac: constants", "weights"), ("TFLM: the file", "file"),
               ("Vela: weights", "vela_flash"), ("arenac: instructions, Cortex-M4", "insns"),
               ("Vela: cycles of the NPU, its estimate", "vela_cycles")], rows[row_int8])
    if rows[row_float]:
        print("f32: RAM, bytes, and code for a Cortex-M4\n")
        table([("arenac", "arena"), ("`--overlap on`", "overlap"), ("`--stripe auto`", "stripe"),
               ("ONNX Runtime", "ort"), ("TVM", "tvm"), ("arenac: code", "code"), ("TVM: code", "tvm_code")],
              rows[row_float])
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(rows[row_int8] + rows[row_float], f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
