"""QONNX: random Quant, BipolarQuant and Trunc, with the bits that f32 arithmetic has as it is written here; and nets of
quantised weights of 1 to 8 bits, whose products are those of bytes and within a step of floats.

    qonnx.py ARENAC SEED
"""
import pathlib
import re
import subprocess
import sys

import numpy as np

from onnx_bytes import F32, I64, attr_int, attr_ints, attr_word, graph, model, node, tensor

arenac, seed = sys.argv[1], int(sys.argv[2])
f32, r = np.float32, np.random.default_rng(seed)


def mirrored(of, more):
    return lambda x: np.sign(x) * of(np.abs(x) + f32(more))


ROUND = {"ROUND": np.round, "half_even": np.round, "CEIL": np.ceil, "FLOOR": np.floor, "UP": mirrored(np.ceil, 0),
         "DOWN": np.trunc, "HALF_UP": mirrored(np.floor, .5), "half_down": mirrored(np.ceil, -.5)}


def kept(x, bits, signed, narrow, mode):
    half = 2.0 ** (bits - 1)
    lo, hi = (narrow - half, half - 1) if signed else (0, 2 * half - 1 - narrow)
    return ROUND[mode](np.clip(x, f32(lo), f32(hi)))


def sign(x):
    return np.where(x >= 0, f32(1), f32(-1))


def quant(x, s, z, bits, signed, narrow, mode="ROUND"):
    x = x / s + z
    return ((sign(x) if signed and bits == 1 else kept(x, bits, signed, narrow, mode)) - z) * s


class Net:
    def __init__(self, *domain):
        self.domain, self.nodes, self.weights, self.ins, self.arrays = domain, [], [], [], []

    def name(self):
        return "t%d" % (len(self.nodes) + len(self.weights) + len(self.ins))

    def input(self, x):
        self.arrays.append(x)
        self.ins.append((self.name(), F32, x.shape))
        return self.ins[-1][0]

    def const(self, v, kind=f32):
        name, v = self.name(), np.asarray(v, kind)
        self.weights.append(tensor(name, F32 if kind == f32 else I64, v.shape, v.tobytes()))
        return name

    def op(self, kind, *ins, attrs=b"", own=False):
        name = self.name()
        self.nodes.append(node(kind, ins, [name], attrs, name, self.domain[0] if own else ""))
        return name

    def quant(self, x, s, z, bits, signed, narrow, mode="ROUND", kind="Quant"):
        attrs = attr_int("signed", signed) + attr_int("narrow", narrow) + attr_word("rounding_mode", mode)
        whole = np.int64 if r.random() < .3 else f32
        return self.op(kind, x, self.const(s), self.const(z, whole if np.ndim(z) == 0 else f32), self.const(bits, f32),
                       attrs=attrs, own=True)

    def run(self, outs, *options):
        opsets = (("", 15), self.domain) if self.domain[1] else (("", 15),)
        data = model(graph(self.nodes, self.ins, [(o, F32, shape) for o, shape in outs], self.weights), opsets=opsets)
        pathlib.Path("net.onnx").write_bytes(data)
        given = []
        for i, x in enumerate(self.arrays):
            np.save("x%d.npy" % i, x)
            given += ["--input", "%d=x%d.npy" % (i, i)]
        subprocess.run([arenac, "run", "net.onnx", "-q", "--backend", "eval", "--output-dir", "out", *given, *options],
                       check=True)
        return [np.load("out/%d.npy" % i) for i in range(len(outs))]


def param(shape, positive):
    """One number, or an array that broadcasts."""
    few = [d if r.random() < .5 else 1 for d in shape][r.integers(len(shape) + 1):]
    shape = [(), (1,), few][r.integers(3)]
    v = r.uniform(.05, .5, shape) if positive else r.integers(-4, 5, shape)
    return f32(2 ** np.round(np.log2(v)) if positive and r.random() < .4 else v)


def operators(*domain):
    net, wants = Net(*domain), []
    for _ in range(60):
        shape = [int(d) for d in r.integers(1, 6, r.integers(1, 5))]
        x = r.normal(0, 3, shape)
        x = f32(np.round(x * 8) / 8 if r.random() < .5 else x)
        s, z = param(shape, True), param(shape, False) if r.random() < .5 else f32(0)
        mode, signed, narrow = str(r.choice(list(ROUND))), int(r.integers(2)), int(r.integers(2))
        bits = float(r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 2.5]))
        left, name = float(r.integers(1, int(bits) + 1)), net.input(x)
        of_bits = [net.const(s), net.const(z), net.const(bits)]
        trunc = attr_word("rounding_mode", mode)
        case = r.choice(["Quant", "BipolarQuant", "Trunc"], p=[.6, .15, .25])
        if case == "Quant":
            y, want = net.quant(name, s, z, bits, signed, narrow, mode), quant(x, s, z, bits, signed, narrow, mode)
        elif case == "BipolarQuant":
            y, want = net.op(case, name, of_bits[0], own=True), sign(x) * s
        elif domain[1] == 2:
            to = f32(s * 2.0 ** r.integers(4))
            y = net.op(case, name, *of_bits, net.const(to), net.const(left), own=True,
                       attrs=trunc + attr_int("signed", signed) + attr_int("narrow", narrow))
            by = f32(2 ** np.round(np.log2(to / s)))
            want = (kept(np.round(x / s + z) / by, left, signed, narrow, mode) - z / by) * to
        else:
            y = net.op(case, name, *of_bits, net.const(left), attrs=trunc, own=True)
            want = (ROUND[mode](np.round(x / s + z) / f32(2 ** (bits - left))) - z) * s
        wants.append((y, want))
    got = net.run([(y, want.shape) for y, want in wants])
    for (name, want), y in zip(wants, got):
        np.testing.assert_array_equal(y, want, name)


def weights(net, shape, axis, bits):
    """As f32 of the size that most nets have: too large to be computed while the file is read."""
    v = f32(r.normal(0, .3, shape))
    if bits == 1:
        return net.op("BipolarQuant", net.const(v), net.const(.25), own=True)
    s = np.abs(v).max(axis=tuple(d for d in range(len(shape)) if d != axis), keepdims=True)
    return net.quant(net.const(v), f32(s / (2 ** (bits - 1) - 1)), 0, bits, 1, 1)


def convolutions(bits):
    """Products of bytes: a step of the last quantisation is the most that they differ from floats."""
    net, step = Net("qonnx.custom_op.general", 1), f32(1 / 16)
    pads = attr_ints("pads", [1] * 4)
    y = net.quant(net.input(f32(r.uniform(-2, 2, (1, 3, 8, 8)))), 1 / 64, 0, 8, 1, 0)
    y = net.op("Conv", y, weights(net, (16, 3, 3, 3), 0, 8), attrs=pads)
    y = net.quant(net.op("Relu", y), 3 / 2 ** bits, 0, bits, 0, 0)
    y = net.op("Conv", y, weights(net, (16, 1, 3, 3), 0, bits), attrs=pads + attr_int("group", 16))
    y = net.quant(net.op("Relu", y), 3 / 2 ** bits, 0, bits, 0, 0, kind="IntQuant")
    y = net.op("MatMul", net.op("Flatten", y), net.op("Transpose", weights(net, (40, 1024), 0, bits)))
    y = net.quant(y, step, 0, 8, 1, 0)
    outs = [(y, (1, 40))]
    exact, (got,) = net.run(outs, "--qdq", "exact")[0], net.run(outs)
    assert np.abs(got - exact).max() <= step and (got != exact).mean() < .1 and np.abs(exact).max() > 0, bits
    said = subprocess.run([arenac, "plan", "net.onnx"], check=True, capture_output=True, text=True).stdout
    assert re.search(r"\b3 products of dequantised bytes run by integer kernels", said), said


for version in (0, 1, 2):  # 0: the file does not say
    operators("onnx.brevitas" if version == 0 else "qonnx.custom_op.general", version)
for width in (1, 2, 3, 4, 8):
    convolutions(width)
