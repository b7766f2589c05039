#!/usr/bin/env python3
"""References of gate.ag, computed here in float64 with numpy and nothing of arenac: gate.in0.SET.npy, gate.out0.SET.npy.

    python3 models/make_gate.py          needs numpy

The random constants follow docs/text-format.md: splitmix64 from the seed, the upper 53 bits as a fraction, LO + (HI - LO) * u,
rounded to float32.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MASK = (1 << 64) - 1


def random(seed, shape, lo, hi):
    out = []
    for _ in range(int(np.prod(shape))):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        out.append(np.float32(lo + (hi - lo) * ((z >> 11) * 2.0**-53)))
    return np.array(out, np.float64).reshape(shape)


def conv(x, w, b, depthwise=False):
    """x [1,H,W,C]; w [O,3,3,C] or [1,3,3,C] depthwise; stride 1, same padding for 3x3, none for 1x1."""
    k = w.shape[1]
    p = k // 2
    padded = np.pad(x[0], ((p, p), (p, p), (0, 0)))
    h, wd = x.shape[1:3]
    out = np.zeros((h, wd, w.shape[3] if depthwise else w.shape[0]))
    for ky in range(k):
        for kx in range(k):
            patch = padded[ky:ky + h, kx:kx + wd]
            out += patch * w[0, ky, kx] if depthwise else patch @ w[:, ky, kx].T
    return (out + b)[None]


w1, w2 = random(1, (8, 3, 3, 4), -0.3, 0.3), random(2, (4, 1, 1, 8), -0.4, 0.4)
wd = random(3, (1, 3, 3, 4), -0.5, 0.5)
b2 = np.array([0.1, -0.1, 0.2, -0.2], np.float32).astype(np.float64)
for s in range(3):
    x = np.random.default_rng(s).uniform(-1, 1, (1, 8, 8, 4)).astype(np.float32) * np.float32(8 if s == 2 else 1)
    v = x.astype(np.float64)
    p = conv(np.maximum(conv(v, w1, np.float64(np.float32(0.05))), 0), w2, b2)
    y = np.clip(p / (1 + np.exp(-conv(v, wd, 0.0, True))) + v, 0, 6).astype(np.float32)
    np.save(HERE / f"gate.in0.{s}.npy", x)
    np.save(HERE / f"gate.out0.{s}.npy", y)
