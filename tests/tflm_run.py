"""Runs a model in TFLite Micro as it is and with a plan of arenac's in it: outputs must be equal, and the second may not
need a larger arena. usage: tflm_run.py MODEL PLANNED. Prints the smallest arenas; exits 77 without the package tflite-micro."""
import os
import subprocess
import sys

try:
    import numpy as np
    from tflite_micro import runtime
except ImportError:
    sys.exit(77)


def run(path, arena):
    it = runtime.Interpreter.from_file(path, arena_size=arena)
    rng = np.random.default_rng(1)
    inputs = 0
    while True:
        try:
            d = it.get_input_details(inputs)
        except (IndexError, ValueError, RuntimeError):
            break
        dtype = np.dtype(d["dtype"])
        shape = tuple(d["shape"])
        x = rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, 100, size=shape)
        it.set_input(x.astype(dtype), inputs)
        inputs += 1
    it.invoke()
    return it.get_output(0)


def fits(path, arena):
    """A too small arena ends the interpreter with an error; another process keeps that apart."""
    r = subprocess.run([sys.executable, __file__, "--one", path, str(arena)], capture_output=True)
    return r.returncode == 0


def smallest(path, high):
    low = 0
    if fits(path, 1 << 18):
        high = 1 << 18
    while high - low > 256:
        mid = (low + high) // 2
        low, high = (low, mid) if fits(path, mid) else (mid, high)
    return high


if sys.argv[1] == "--one":
    run(sys.argv[2], int(sys.argv[3]))
    sys.stdout.flush()
    os._exit(0)
model, planned = sys.argv[1:3]
room = 16 << 20
a, b = run(model, room), run(planned, room)
if not np.array_equal(a, b):
    sys.exit(f"{planned}: outputs differ")
before, after = smallest(model, room), smallest(planned, room)
print(f"{os.path.basename(model)}: arena {before} -> {after} bytes, outputs equal")
sys.stdout.flush()
if after > before + 256:
    sys.exit(f"{planned}: needs a larger arena")
os._exit(0)
