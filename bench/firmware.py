#!/usr/bin/env python3
"""Firmware: cycles, instructions, RAM and flash of int8 models on QEMU's boards, with wanted figures and those of other
systems.

    bench/firmware.py                               all models and targets: half an hour
    bench/firmware.py --quick                       the four of MLPerf Tiny on cortex-m4, without -Os
    bench/firmware.py -t cortex-m4 -t rv32imac -m kws
    bench/firmware.py --emit c --json table.json    C alone; all figures in a file too
    bench/firmware.py --arenac OLD/arenac           another compiler

Every model is compiled to C (gcc -O2 and -Os, clang -O2) and, if arenac has LLVM, to an object; plain, with `--stripe
auto` and with `--stripe auto --io rows`. Every program holds a self-test (`--emit selftest`), so a figure is only
printed if all bytes are the evaluator's. QEMU counts instructions; cycles are those of `arenac prove --time`, by the
core's manual. Models are those of the shared folder beside the checkout (--shared) and an autoencoder that
bench/ad_int8.py makes; what is not there is left out and said. Exit 1: a program failed or a byte differs. Misses of
a target are marked with '!', and counted at the end.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import board

ROOT = board.ROOT

# name, file below shared/models/tflite (or a script of ours), words for --model
MODELS = [
    ("KWS", "kws_dscnn_int8", "kws"),
    ("ResNet8", "ic_resnet8_int8", "resnet8 ic"),
    ("VWW 0.25@96", "mobilenet_v1_025_96_int8", "vww mobilenet_v1"),
    ("AD", "ad_int8", "ad"),
    ("MobileNetV2 1.0@224", "mobilenet_v2_100_224_int8", "mobilenetv2"),
    ("person_detect", "person_detect_int8", "person_detect"),
    ("mcunet", "mcunet_person_det_int8", "mcunet"),
    ("sww", "sww_int8", "sww"),
    ("micro_speech", "micro_speech_int8", "micro_speech"),
    ("keyword_scrambled", "keyword_scrambled", "keyword"),
]
TINY = ("KWS", "ResNet8", "VWW 0.25@96", "AD")

# Targets. Millions of the better of C -O2 and the object, by target: instructions, cycles; bytes by model.
M4 = {"KWS": 3.5, "ResNet8": 14.0, "VWW 0.25@96": 12.0, "AD": 0.30}
WANTED_CYCLES = {"cortex-m4": {"KWS": 3.50, "ResNet8": 14.9, "VWW 0.25@96": 11.2, "AD": 0.345}}
WANTED = {
    "cortex-m4": M4, "cortex-m7": M4, "cortex-m33": M4,
    "cortex-m55": {"KWS": 0.60, "ResNet8": 2.05, "VWW 0.25@96": 1.90, "AD": 0.048},
    "cortex-m0plus": {"KWS": 9.2, "ResNet8": 38, "VWW 0.25@96": 28, "AD": 0.75},
    "rv32imac": {"KWS": 7.5, "ResNet8": 31, "VWW 0.25@96": 22.3, "AD": 0.90},
    "rv32imac-zve32x": {"ResNet8": 7},
}
WANTED_STRIPES = {"KWS": 5000, "ResNet8": 13500, "VWW 0.25@96": 28500, "AD": 900}
WANTED_ROWS = {"KWS": 4700, "ResNet8": 11000, "VWW 0.25@96": 13300}
WANTED_CODE = {"KWS": 2900, "ResNet8": 4800, "VWW 0.25@96": 6150, "AD": 1300, "MobileNetV2 1.0@224": 24 << 10}
WANTED_WEIGHTS = {"KWS": 30500, "ResNet8": 83000, "VWW 0.25@96": 245000, "AD": 271000}
MORE_BY_STRIPES = {"ResNet8": 1.07}  # others: 1.03
C_TO_OBJECT, SMALL_TO_FAST, CLANG_TO_GCC = 1.15, 1.3, 1.1

# Figures of other systems, measured or published. TFLM: TFLite Micro with CMSIS-NN at the same input, arm-none-eabi-gcc
# 12.2 -O2, QEMU 7.2, millions of instructions.
TFLM = {
    "cortex-m4": {"KWS": 7.70, "VWW 0.25@96": 24.1, "ResNet8": 29.9, "AD": 0.58},
    "cortex-m55": {"KWS": 1.81, "VWW 0.25@96": 6.55, "ResNet8": 4.91, "AD": 0.15},
}
# ST: X-CUBE-AI 10.2 on an STM32L4R5, millions of cycles, MLPerf Tiny v1.3 closed division; not bit exact.
ST = {"cortex-m4": {"KWS": 5.21, "VWW 0.25@96": 10.73, "ResNet8": 19.88, "AD": 0.575}}
# HALE: Bosch on Cortex-M4 and M0+, millions of cycles, MLPerf Tiny v1.2; bit equal to TFLM.
HALE = {
    "cortex-m4": {"KWS": 7.22, "VWW 0.25@96": 21.7, "ResNet8": 21.7, "AD": 0.567},
    "cortex-m0plus": {"KWS": 30.4, "VWW 0.25@96": 90.5, "ResNet8": 97.4, "AD": 2.62},
}
# TFLM: arena and stack, bytes. ST: activations and 30 KiB of its runtime, STM32 model zoo.
TFLM_RAM = {"KWS": 24056, "VWW 0.25@96": 101944, "ResNet8": 56232, "AD": 3320}
ST_RAM = {"MobileNetV2 1.0@224": (1727 + 30) << 10}
ST_CODE = {"MobileNetV2 1.0@224": 157 << 10}

MODES = {"plain": [], "stripes": ["--stripe", "auto"], "rows": ["--stripe", "auto", "--io", "rows"]}
FORMS = {"O2": ("c", "-O2", "gcc"), "clang": ("c", "-O2", "clang"), "Os": ("c", "-Os", "gcc"),
         "obj": ("o", "-O2", "gcc")}
TIMED = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m33")  # timing/cores.def; the last one is an estimate


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("-t", "--target", action="append", help="repeat; default: all of WANTED and cortex-m3")
    ap.add_argument("-m", "--model", action="append", help="a word of a model's name; repeat")
    ap.add_argument("--emit", choices=("c", "obj"), help="one of the two forms only")
    ap.add_argument("--modes", default="plain,stripes,rows", help="which of %s" % ",".join(MODES))
    ap.add_argument("--quick", action="store_true", help="MLPerf Tiny on cortex-m4, -O2 and the object")
    ap.add_argument("--json", metavar="FILE")
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--also", default="", metavar="OPTIONS", help="more options for arenac compile")
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"))
    return ap.parse_args()


def say(text):
    print(text, flush=True)


def model_file(o, name):
    """The file and options that give its input, or None."""
    if name == "ad_int8":
        path = os.path.join(o.work, "ad_int8.ag")
        real = os.path.join(o.shared, "models", "tflite", "ad_autoencoder_f32", "ad_autoencoder_f32.tflite")
        make = [sys.executable, os.path.join(ROOT, "bench", "ad_int8.py"), path]
        if os.path.exists(real):
            make += ["--float", real, "--arenac", o.arenac]
        if not os.path.exists(path) and subprocess.run(make).returncode:
            return None
        return path, ["--random", "1"]
    folder = os.path.join(o.shared, "models", "tflite", name)
    path = os.path.join(folder, name + ".tflite")
    if not os.path.exists(path):
        return None
    stored = os.path.join(folder, "input0_0.npy")
    return path, ["--random", "1"] + (["--input", "0=" + stored] if os.path.exists(stored) else [])


def compiled(o, path, given, target, mode, kind, folder):
    """None: this form cannot be had; the reason is returned too."""
    command = [o.arenac, "compile", "-q", "-t", target, path, "--name", "net", "--emit", kind + ",h,selftest", "-o",
               os.path.join(folder, "net")] + MODES[mode] + given + o.also.split()
    r = subprocess.run(command, capture_output=True, text=True)
    return r.returncode == 0, r.stderr.strip()


def cycles(o, b, model, target, mode, form):
    """By the core's manual, of the code of this form; None: there is no table, or no bound."""
    kind, opt, cc = FORMS[form]
    if target not in TIMED:
        return None
    words = ["--backend", "llvm"] if kind == "o" else ["--time-cc", " ".join(
        board.clang_words(b) + [opt] if cc == "clang" else [b["prefix"] + "gcc", opt])]
    r = subprocess.run([o.arenac, "prove", "-t", target, model[0], "--name", "net", "--time", "--json"] + words +
                       MODES[mode] + o.also.split(), capture_output=True, text=True)
    return json.loads(r.stdout)["cycles"] if r.returncode == 0 else None


def cell(o, b, model, target, mode, form):
    """One measurement, or a dict with the reason of its absence."""
    kind, opt, cc = FORMS[form]
    with tempfile.TemporaryDirectory() as folder:
        ok, why = compiled(o, *model, target, mode, kind, folder)
        if not ok:
            return {"none": why}
        sizes = board.defines(os.path.join(folder, "net.h"), opt, cc)
        try:
            r = board.measure(b, "net", os.path.join(folder, "net." + kind), os.path.join(folder, "net.selftest.c"),
                              folder, opt, cc=cc)
        except board.Failed as e:
            text = str(e)
            return {"none" if "will not fit" in text or "overflowed" in text else "failed": text}
    r["arena"], r["state"] = sizes["NET_ARENA_BYTES"], sizes["NET_STATE_BYTES"]
    r["stated"], r["ram"] = sizes["NET_STACK_BYTES"], sizes["NET_ARENA_BYTES"] + sizes["NET_STATE_BYTES"] + r["stack"]
    r["cycles"] = cycles(o, b, model, target, mode, form) if mode != "rows" else None
    if r["status"]:
        r["failed"] = "status %d: %s" % (r["status"], "an output differs" if r["status"] == 100 else "the run stopped")
    return r


def wants(o, form):
    return not (o.emit == "c" and form == "obj" or o.emit == "obj" and form != "obj" or o.quick and form == "Os" or
                form == "clang" and not board.clang())


def measure(o, boards):
    table = {}
    for target in o.target:
        for name, file, _ in o.models:
            model = model_file(o, file)
            if not model:
                continue
            row = table.setdefault(target, {}).setdefault(name, {})
            for mode in o.modes:
                for form in FORMS:
                    if wants(o, form) and (mode == "plain" or form == "O2" or (mode, form) == ("stripes", "obj")):
                        row[mode + " " + form] = cell(o, boards[target], model, target, mode, form)
            bad = [(k, v["failed"]) for k, v in row.items() if "failed" in v]
            for key, why in bad:
                say("%s on %s, %s: %s" % (name, target, key, why))
            o.failed += len(bad)
    return table


def mark(o, value, limit, text):
    if limit is None:
        return text
    miss = value > limit * 1.0000001
    o.misses += miss
    o.cells += 1
    return text + ("!" if miss else " ")


def million(x):
    return "%.3g" % x if x < 1 else "%.2f" % x if x < 100 else "%.0f" % x


def get(row, key, what):
    return row.get(key, {}).get(what)


def print_rows(title, head, rows):
    widths = [max(len(r[i]) for r in [head] + rows) for i in range(len(head))]
    say("\n" + title)
    for r in [head] + rows:
        say("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))).rstrip())


def speed_row(o, target, name, row):
    insns = {f: get(row, "plain " + f, "insns") for f in FORMS}
    both = [insns[f] / 1e6 for f in ("O2", "obj") if insns[f]]
    best, wanted = min(both) if both else None, WANTED.get(target, {}).get(name)
    words = [name]
    for f in FORMS:
        limit = SMALL_TO_FAST * insns["O2"] if f == "Os" and insns["O2"] else \
            C_TO_OBJECT * best * 1e6 if best and len(both) > 1 else None
        words.append("-" if insns[f] is None else mark(o, insns[f], limit, million(insns[f] / 1e6)))
    words += [mark(o, best, wanted, million(best)) if best else "-", "" if wanted is None else million(wanted),
              "%.2f" % (best / wanted) if best and wanted else ""]
    for f in ("O2", "obj"):
        plain, stripes = insns[f], get(row, "stripes " + f, "insns")
        words.append(mark(o, stripes / plain, MORE_BY_STRIPES.get(name, 1.03),
                          "%+.1f%%" % (100 * stripes / plain - 100)) if plain and stripes else "-")
    value = TFLM.get(target, {}).get(name)
    return words + ["" if value is None else million(value)]


def forms_row(o, target, name, row):
    """Cycles, or instructions of a core without a table, of each form, then what one form takes more than another."""
    what = "cycles" if target in TIMED else "insns"
    took = {f: get(row, "plain " + f, what) for f in FORMS}
    both = [took[f] / 1e6 for f in ("O2", "obj") if took[f]]
    best, wanted = min(both) if both else None, WANTED_CYCLES.get(target, {}).get(name) if what == "cycles" else None
    words = [name] + ["-" if took[f] is None else million(took[f] / 1e6) for f in FORMS]
    for a, b, limit, either in (("clang", "O2", CLANG_TO_GCC, True), ("Os", "O2", SMALL_TO_FAST, False),
                                ("O2", "obj", C_TO_OBJECT, True)):
        x = took[a] / took[b] if took[a] and took[b] else None
        words.append("-" if x is None else mark(o, max(x, 1 / x) if either else x, limit, "%.2f" % x))
    words += [mark(o, best, wanted, million(best)) if best else "-", "" if wanted is None else million(wanted)]
    for other in (ST, HALE):
        value = other.get(target, {}).get(name) if what == "cycles" else None
        words.append("" if value is None else million(value))
    return words


def ram_row(o, name, row):
    words = [name]
    for mode, limits in (("plain", {}), ("stripes", WANTED_STRIPES), ("rows", WANTED_ROWS)):
        found = [get(row, "%s %s" % (mode, f), "ram") for f in ("O2", "obj")]
        found = [x for x in found if x is not None]
        limit = limits.get(name)
        words.append(mark(o, min(found), limit, str(min(found))) if found else "-")
        words += ["" if limit is None else str(limit)] if mode != "plain" else []
    words += [str(TFLM_RAM.get(name, "")), str(ST_RAM.get(name, ""))]
    for f in FORMS:
        stack, stated = get(row, "plain " + f, "stack"), get(row, "plain " + f, "stated")
        bad = stack is not None and not stack <= stated <= 2 * stack + 128
        words.append("-" if stack is None else mark(o, bad, 0, "%d/%d" % (stack, stated)))
    return words


def flash_row(o, target, name, row):
    words = [name]
    limit = WANTED_CODE.get(name) if target == "cortex-m4" else None
    for key in ["plain " + f for f in FORMS] + ["stripes O2"]:
        code = get(row, key, "code")
        words.append("-" if code is None else mark(o, code, limit if key == "plain O2" else None, str(code)))
    weights = [get(row, k, "rodata") for k in ("plain O2", "plain obj")]
    weights = [w for w in weights if w is not None]
    words += ["" if limit is None else str(limit), str(ST_CODE.get(name, "")),
              mark(o, max(weights), WANTED_WEIGHTS.get(name), str(max(weights))) if weights else "-",
              str(WANTED_WEIGHTS.get(name, ""))]
    return words


def print_table(o, table):
    for target, models in table.items():
        print_rows("%s: instructions, millions" % target,
                   ["", "C -O2", "clang -O2", "C -Os", "object", "best", "wanted", "ratio", "stripes C", "stripes obj",
                    "TFLM"], [speed_row(o, target, n, r) for n, r in models.items()])
        print_rows("%s: forms, millions of %s" % (target, "cycles by the core's table" + " (an estimate)" *
                                                  (target == "cortex-m33") if target in TIMED else "instructions"),
                   ["", "C -O2", "clang -O2", "C -Os", "object", "clang / gcc", "-Os / -O2", "C / object", "best",
                    "wanted", "ST", "HALE"], [forms_row(o, target, n, r) for n, r in models.items()])
        print_rows("%s: RAM with stack and scratch, bytes; stack measured/stated" % target,
                   ["", "plain", "stripes", "wanted", "rows", "wanted", "TFLM", "ST", "-O2", "clang", "-Os", "object"],
                   [ram_row(o, n, r) for n, r in models.items()])
        print_rows("%s: flash, bytes" % target,
                   ["", "code -O2", "clang -O2", "code -Os", "code object", "code stripes", "wanted", "ST", "weights",
                    "wanted"],
                   [flash_row(o, target, n, r) for n, r in models.items()])


def main():
    o = options()
    boards = board.read_boards()
    o.misses = o.cells = o.failed = 0
    o.target = o.target or (["cortex-m4"] if o.quick else
                            ["cortex-m4", "cortex-m55", "cortex-m0plus", "rv32imac", "rv32imac-zve32x",
                             "cortex-m3", "cortex-m7", "cortex-m33"])
    o.modes = [m for m in MODES if m in o.modes.split(",")]
    o.models = [m for m in MODELS if not o.quick or m[0] in TINY or o.model]
    if o.model:
        o.models = [m for m in o.models if any(w in (m[1] + " " + m[2]).lower() for w in map(str.lower, o.model))]
    os.makedirs(o.work, exist_ok=True)
    for target in list(o.target):
        packages = board.missing(boards[target]) if target in boards else "a target of host/firmware/boards.def"
        if packages:
            say("%s is left out: install %s" % (target, packages))
            o.target.remove(target)
    for name, file, _ in o.models:
        if not model_file(o, file):
            say("%s is left out: there is no %s" % (name, file))
    table = measure(o, boards)
    print_table(o, table)
    say("\n%d of %d cells miss what is wanted" % (o.misses, o.cells))
    if o.json:
        with open(o.json, "w") as f:
            json.dump(table, f, indent=1)
    return 1 if o.failed else 0


if __name__ == "__main__":
    sys.exit(main())
