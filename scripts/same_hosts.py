#!/usr/bin/env python3
"""same_hosts.py ARENAC OTHER [MODEL]... - compares two builds of arenac for different machines.

The files that each call of CALLS writes for a model, its texts and its exit status must be equal byte for byte. OTHER
may be a script that starts an emulator. Without MODEL: ten models of five formats. Exit status 0 if all are equal."""
import os, pathlib, subprocess, sys, tempfile

MODELS = ["digits_int8.tflite", "digits_f32.tflite", "dsnet_int8.tflite", "dsnet_f32.tflite", "branch_int8.tflite",
          "branch_f32.tflite", "gate.ag", "tf_cnn.pb", "squares.caffemodel", "dense-symbol.json"]
CALLS = [["compile", "-q", "--emit", "c,h"], ["compile", "-q", "-t", "cortex-m4", "--emit", "c,h"],
         ["compile", "-q", "-t", "x86-64-v3", "--emit", "c,h"], ["compile", "-q", "-t", "cuda-sm80", "--emit", "cu,h"],
         ["plan", "-vv", "--emit", "json,csv,problem,lock,md,dot,svg,html"]]


# Compilers of boards would measure stacks of a machine that has them.
env = {"PATH": "/nowhere", "HOME": os.environ.get("HOME", "/")}


def outputs(arenac, words, model):
    with tempfile.TemporaryDirectory() as made:
        p = subprocess.run([arenac, *words, model, "-o", "m"], cwd=made, env=env, capture_output=True)
        files = {f: (pathlib.Path(made) / f).read_bytes() for f in sorted(os.listdir(made))}
    return {**files, "output": p.stdout, "errors": p.stderr, "status": b"%d" % p.returncode}


def main():
    first, second = (os.path.abspath(a) for a in sys.argv[1:3])
    folder = pathlib.Path(__file__).resolve().parent.parent / "models"
    compared = differ = 0
    for model in sys.argv[3:] or [str(folder / m) for m in MODELS]:
        for words in CALLS:
            a, b = outputs(first, words, model), outputs(second, words, model)
            for name in sorted({*a, *b}):
                compared += 1
                if a.get(name) != b.get(name):
                    differ += 1
                    print("differs: %s %s: %s" % (" ".join(words), model, name))
    print("%d compared, %d differ" % (compared, differ))
    return differ > 0 or not compared


if __name__ == "__main__":
    sys.exit(main())
