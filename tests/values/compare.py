"""What the value tests share: a model is run once by the reference interpreter, and each of its outputs compared with
what NumPy makes of the same numbers by the definition of the operator, written here a second time."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

bad = 0


def run(arenac, files, inputs, want, extra=(), dtype=None):
    """files: {name: text or bytes}, the model first; inputs: list of arrays; want: {output name: array}, in order;
    dtype: the type of all outputs."""
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
            if dtype and got.dtype != dtype:
                print(f"{name}: {got.dtype}, expected {np.dtype(dtype)}")
                bad = 1
            far = np.abs(got.astype(float) - ref.astype(float)).max() if ref.size else 0
            if not far <= 2e-5 * max(1, np.abs(ref.astype(float)).max() if ref.size else 1):
                print(f"{name}: {far:.3g} off;\n got  {got.ravel()[:8]}\n want {ref.ravel()[:8]}")
                bad = 1
    print(f"{next(iter(files))}: {len(want)} outputs compared")


def finish():
    sys.exit(bad)


def iou(p, q):
    """Of boxes left, top, right, bottom."""
    p, q = [float(v) for v in p], [float(v) for v in q]
    w, h = min(p[2], q[2]) - max(p[0], q[0]), min(p[3], q[3]) - max(p[1], q[1])
    both = max(w, 0) * max(h, 0)
    union = (p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]) - both
    return both / union if both > 0 else 0


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _taps(w, out, stride, dil):
    """Every place in a window and the elements it meets, for `out` windows along each spatial dimension."""
    for tap in np.ndindex(*w.shape[2:]):
        yield (..., *tap), (..., *(slice(t * dil, t * dil + (o - 1) * stride + 1, stride) for t, o in zip(tap, out)))


def conv(x, w, b, group=1, stride=1, dil=1, pad=0):
    """x [N,C,S..], w [O,C/group,K..], any number of spatial dimensions."""
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * (x.ndim - 2))
    out = [(n - (k - 1) * dil - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:])]
    y = np.zeros((x.shape[0], w.shape[0], *out))
    for g in range(group):
        to, by = (slice(g * (n // group), (g + 1) * (n // group)) for n in (w.shape[0], x.shape[1]))
        for tap, at in _taps(w, out, stride, dil):
            y[:, to] += np.einsum("nc...,oc->no...", x[:, by][at], w[to][tap])
    return y + b.reshape(1, -1, *[1] * len(out))


def deconv(x, w, b, group=1, stride=1, dil=1, pad=0):
    """x [N,C,S..], w [C,O/group,K..]: the transpose of a convolution, pads cut off."""
    full = [(n - 1) * stride + (k - 1) * dil + 1 for n, k in zip(x.shape[2:], w.shape[2:])]
    y = np.zeros((x.shape[0], w.shape[1] * group, *full))
    for g in range(group):
        to, by = (slice(g * n, (g + 1) * n) for n in (w.shape[1], x.shape[1] // group))
        for tap, at in _taps(w, x.shape[2:], stride, dil):
            y[:, to][at] += np.einsum("nc...,co->no...", x[:, by], w[by][tap])
    return y[(..., *(slice(pad, n - pad) for n in full))] + b.reshape(1, -1, *[1] * len(full))
