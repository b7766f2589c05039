"""Runs a model in TFLite Micro as it is and with a plan of arenac's in it: all outputs must be equal for several
inputs, and the second must need SAVED bytes less, or (without SAVED) not more.
usage: tflm_run.py MODEL PLANNED [SAVED]. Prints the smallest arenas; exits 77 without the package tflite-micro."""
import os
import subprocess
import sys

try:
    import numpy as np
    from tflite_micro import runtime
except ImportError:
    sys.exit(77)

STEP = 256  # how exactly the smallest arena is found, in bytes


def details(get):
    """Of all inputs, or all outputs."""
    found = []
    while True:
        try:
            found.append(get(len(found)))
        except (IndexError, ValueError, RuntimeError):
            return found


def run(path, arena, seeds):
    """The outputs for each seed's inputs, one run after the other in the same arena."""
    it = runtime.Interpreter.from_file(path, arena_size=arena)
    inputs, outputs, got = details(it.get_input_details), details(it.get_output_details), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        for k, d in enumerate(inputs):
            dtype, shape = np.dtype(d["dtype"]), tuple(d["shape"])
            x = rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, 100, size=shape)
            it.set_input(x.astype(dtype), k)
        it.invoke()
        got += [it.get_output(k).copy() for k in range(len(outputs))]
    return got


def fits(path, arena):
    """A too small arena ends the interpreter with an error; another process keeps that apart."""
    return subprocess.run([sys.executable, __file__, "--one", path, str(arena)], capture_output=True).returncode == 0


def smallest(path, high):
    while high > STEP and fits(path, high // 2):
        high //= 2
    low = high // 2
    while high - low > STEP:
        mid = (low + high) // 2
        low, high = (low, mid) if fits(path, mid) else (mid, high)
    return high


if sys.argv[1] == "--one":
    run(sys.argv[2], int(sys.argv[3]), 1)
    sys.stdout.flush()
    os._exit(0)
model, planned = sys.argv[1:3]
saved = int(sys.argv[3]) if len(sys.argv) > 3 else -STEP
room = 16 << 20
a, b = run(model, room, 3), run(planned, room, 3)
if len(a) != len(b) or not a or not all(np.array_equal(x, y) for x, y in zip(a, b)):
    sys.exit(f"{planned}: outputs differ")
before, after = smallest(model, room), smallest(planned, room)
print(f"{os.path.basename(model)}: arena {before} -> {after} bytes, outputs equal")
sys.stdout.flush()
if before - after < saved:
    sys.exit(f"{planned}: needs a larger arena than {before - saved} bytes")
os._exit(0)
