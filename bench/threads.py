#!/usr/bin/env python3
"""Compares one thread with N, in alternating turns in one process (time_threads.c).

    bench/threads.py                             two threads, the models below
    bench/threads.py --threads 4 --only dense    those whose name contains this
    bench/threads.py --arenac OLD/arenac --arenac build/arenac       two compilers, in turns
    bench/threads.py FILE.onnx ...               these files

Processors may differ in speed, and statically divided work ends with the slowest one: `gain` is the time of one thread
on the slowest processor by that of all threads, `of mean` that of one thread on the mean of them. Medians over the
rounds; each round uses a copy of the program, since the physical pages of a file affect speed. Models are in shared/
next to the checkout; without it, the script reports that and exits with 0."""
import argparse
import glob
import os
import re
import shutil
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MODELS = ["onnx/light_inception_v1", "onnx/inception_mini_128", "caffe/googlenet_w025", "onnx/light_resnet50",
          "onnx/light_squeezenet", "onnx/densenet_k8_128", "tflite/densenet_k8_64_f32", "onnx/yolo_csp_160",
          "tflite/mobilenet_v2_100_224_int8", "tflite/inception_mini_96_int8", "tflite/ssd_mobilenet_v1_300_uint8",
          "onnx/vit_micro_96", "onnx/bert_mini_seq64", "onnx/convnext_micro_64", "onnx/resnet18_w12_112",
          "onnx/efficientnet_b0_w035_160"]


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("file", nargs="*")
    ap.add_argument("--arenac", action="append", default=[], metavar="FILE")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--only", default="")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--secs", type=float, default=0.8)
    ap.add_argument("--cc", default=os.environ.get("CC", "cc"))
    ap.add_argument("--flags", default="-O2")
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench", "threads"))
    return ap.parse_args()


def files_of(folder):
    """A model's file, and that of its weights if it is next to it."""
    found = [f for end in ("onnx", "tflite", "prototxt", "caffemodel") for f in glob.glob(folder + "/*." + end)]
    return found or None


def build(o, arenac, files, folder):
    """The program of time_threads.c; None and a message when something fails."""
    os.makedirs(folder, exist_ok=True)
    common = ["-t", "native", "--weights", "asm", "-o"]
    runtime = os.path.join(ROOT, "runtime")
    steps = [[arenac, "compile", "-q"] + files + ["--name", "one"] + common + ["one.c"],
             [arenac, "compile", "-q"] + files + ["--name", "many", "--threads", str(o.threads)] + common + ["many.c"],
             [o.cc] + o.flags.split() + ["-I.", "-I" + runtime, "one.c", "many.c",
                                         os.path.join(HERE, "time_threads.c"), os.path.join(runtime, "arn_pool.c"),
                                         "-pthread", "-o", "both"]]
    for step in steps:
        r = subprocess.run(step, cwd=folder, capture_output=True, text=True)
        if r.returncode:
            print("%s: %s" % (os.path.basename(files[0]), (r.stderr or r.stdout).strip().split("\n")[0]))
            return None
    return os.path.join(folder, "both")


def timed(o, program):
    copy = shutil.copy(program, program + ".run")
    out = subprocess.run([copy, str(o.secs)], capture_output=True, text=True)
    os.remove(copy)
    return {k: float(v) for k, v in re.findall(r"(\w+)=([\d.]+)", out.stdout)} if not out.returncode else None


def main():
    o = options()
    compilers = [os.path.abspath(a) for a in o.arenac] or [os.path.join(ROOT, "build", "arenac")]
    models = [[os.path.abspath(f)] for f in o.file]
    if not models:
        folders = [os.path.join(o.shared, "models", m) for m in MODELS if o.only in m]
        models = [f for f in map(files_of, folders) if f]
        if not models:
            print("no model in %s, skipped" % o.shared)
            return
    print("| model | one ms | %d threads ms | gain | of mean |\n|---|---|---|---|---|" % o.threads)
    for files in models:
        name = os.path.splitext(os.path.basename(files[0]))[0]
        programs = [build(o, a, files, os.path.join(o.work, "%s.%d" % (name, k))) for k, a in enumerate(compilers)]
        if None in programs:
            continue
        rows = [[] for _ in programs]
        for _ in range(o.rounds):
            for k, p in enumerate(programs):
                rows[k].append(timed(o, p))
        for k, row in enumerate(rows):
            row = [r for r in row if r]
            if not row:
                print("%s: does not run" % name)
                continue
            mid = {key: statistics.median(r[key] for r in row) for key in row[0]}
            label = name if len(compilers) == 1 else "%s (%d)" % (name, k)
            print("| %s | %.3f | %.3f | %.2f | %.2f |" % (label, mid["slow_ms"], mid["all_ms"], mid["gain"],
                                                          mid["of_mean"]), flush=True)


if __name__ == "__main__":
    main()
