"""What the value tests share: a model is run once by the reference interpreter, and each of its outputs compared with what
NumPy makes of the same numbers by the definition of the operator, written here a second time."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

bad = 0


def run(arenac, files, inputs, want, extra=()):
    """files: {name: text or bytes}, the model first; inputs: list of arrays; want: {output name: array}, in order."""
    global bad
    with tempfile.TemporaryDirectory() as t:
        t = pathlib.Path(t)
        for name, content in files.items():
            (t / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        cmd = [arenac, "run", *[t / f for f in files], "--backend", "eval", "--output-dir", t / "out", *extra]
        for k, x in enumerate(inputs):
            np.save(t / f"in{k}.npy", x)
            cmd += ["--input", f"{k}={t}/in{k}.npy"]
        p = subprocess.run([str(c) for c in cmd], capture_output=True, text=True)
        if p.returncode:
            print(p.stderr.replace(str(t) + "/", "")[:4000])
            bad = 1
            return
        for k, (name, ref) in enumerate(want.items()):
            got = np.load(t / "out" / f"{k}.npy")
            ref = np.asarray(ref)
            if got.shape != ref.shape:
                print(f"{name}: shape {got.shape}, expected {ref.shape}")
                bad = 1
                continue
            far = np.abs(got.astype(float) - ref.astype(float)).max() if ref.size else 0
            if not far <= 2e-5 * max(1, np.abs(ref.astype(float)).max() if ref.size else 1):
                print(f"{name}: {far:.3g} off;\n got  {got.ravel()[:8]}\n want {ref.ravel()[:8]}")
                bad = 1
    print(f"{next(iter(files))}: {len(want)} outputs compared")


def finish():
    sys.exit(bad)


def iou(p, q):
    """Of boxes left, top, right, bottom."""
    w, h = min(p[2], q[2]) - max(p[0], q[0]), min(p[3], q[3]) - max(p[1], q[1])
    both = max(w, 0) * max(h, 0)
    union = (p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]) - both
    return both / union if both > 0 else 0


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))
