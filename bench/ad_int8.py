#!/usr/bin/env python3
"""An int8 autoencoder (dense 640-128x4-8-128x4-640) in the text form, for bench/firmware.py and tests.

    bench/ad_int8.py OUT.ag [--float MODEL.tflite --arenac build/arenac] [--per-channel] [--seed N]

With --float the weights are those of a float model of this shape, quantised after training: weights symmetric,
activations by the ranges of the inputs next to the model (input0_*.npy). Else they are normal, from a seed. Needs
NumPy."""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

SIZES = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640]


def random_layers(seed):
    r = np.random.RandomState(seed)
    layers = [(r.normal(0, (2.0 / i) ** 0.5, (o, i)).astype(np.float32), r.normal(0, 0.1, o).astype(np.float32))
              for i, o in zip(SIZES, SIZES[1:])]
    return layers, [r.normal(-5, 3, (1, 640)).astype(np.float32) for _ in range(3)]


def constant(text, base, name):
    """A constant of the text form that `arenac convert` wrote."""
    m = re.search(r'^  const "?%s"?: f32\[([0-9,]+)\] = (?:weights @(\d+)|\[(.*)\])$' % re.escape(name), text, re.M)
    shape = [int(d) for d in m[1].split(",")]
    if m[3]:
        return np.array([float(x) for x in m[3].split(",")], np.float32).reshape(shape)
    return np.frombuffer(base, np.float32, int(np.prod(shape)), int(m[2])).reshape(shape)


def float_layers(arenac, model):
    with tempfile.TemporaryDirectory() as tmp:
        ag = os.path.join(tmp, "ad.ag")
        subprocess.run([arenac, "convert", "-q", model, ag], check=True)
        text, base = open(ag).read(), open(os.path.join(tmp, "ad.weights"), "rb").read()
    calls = re.findall(r'= fully_connected\((?:"[^"]*"|[^,]*), "?([^,"]*)"?, "?([^,")]*)"?\)', text)
    inputs = [np.load(f) for f in sorted(glob.glob(os.path.join(os.path.dirname(model), "input0_*.npy")))]
    return [(constant(text, base, w), constant(text, base, b)) for w, b in calls], inputs


def quantiser(low, high):
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    scale = float(np.float32((high - low) / 255 or 1))
    return scale, int(round(-128 - low / scale))


def ranges(layers, inputs):
    """The least and the largest value of the input and after each layer."""
    found = [(min(x.min() for x in inputs), max(x.max() for x in inputs))]
    for k, (w, b) in enumerate(layers):
        inputs = [x.reshape(1, -1) @ w.T + b for x in inputs]
        inputs = [np.maximum(x, 0) if k + 1 < len(layers) else x for x in inputs]
        found.append((min(x.min() for x in inputs), max(x.max() for x in inputs)))
    return found


def number(x):
    return "%.9g" % np.float32(x)


def text_of(layers, inputs, per_channel):
    quant = [quantiser(*r) for r in ranges(layers, inputs)]
    out = ["graph ad {", "  input x0: i8[1,%d] q(%s, %d)" % (layers[0][0].shape[1], number(quant[0][0]), quant[0][1])]
    body = []
    for k, (w, b) in enumerate(layers):
        s = np.abs(w).max(axis=1, keepdims=True) if per_channel else np.abs(w).max().reshape(1, 1)
        s = np.float32(np.maximum(s, 1e-6) / 127)
        q = np.clip(np.rint(w / s), -127, 127).astype(np.int8)
        bias_scale = np.float32(s[:, 0] * np.float32(quant[k][0]))
        bias = np.rint(b / bias_scale).astype(np.int32)
        if per_channel:
            qw, qb = ("q(axis 0: %s)" % ", ".join("%s 0" % number(v) for v in row) for row in (s[:, 0], bias_scale))
        else:
            qw, qb = "q(%s, 0)" % number(s[0, 0]), "q(%s, 0)" % number(bias_scale[0])
        out.append('  const w%d: i8[%d,%d] %s = hex "%s"' % (k, w.shape[0], w.shape[1], qw, q.tobytes().hex()))
        out.append('  const b%d: i32[%d] %s = hex "%s"' % (k, w.shape[0], qb, bias.tobytes().hex()))
        act = " act=relu" if k + 1 < len(layers) else ""
        body.append("  x%d: i8[1,%d] q(%s, %d) = fully_connected(x%d, w%d, b%d)%s" %
                    (k + 1, w.shape[0], number(quant[k + 1][0]), quant[k + 1][1], k, k, k, act))
    return "\n".join(out + body + ["  output x%d" % len(layers), "}", ""])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--float", metavar="MODEL")
    ap.add_argument("--arenac", default="build/arenac")
    ap.add_argument("--per-channel", action="store_true")
    ap.add_argument("--seed", type=int, default=7)
    o = ap.parse_args()
    layers, inputs = float_layers(o.arenac, o.float) if o.float else random_layers(o.seed)
    open(o.out, "w").write(text_of(layers, inputs, o.per_channel))
    return 0


if __name__ == "__main__":
    sys.exit(main())
