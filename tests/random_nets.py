#!/usr/bin/env python3
"""Writes a graph of random int8 operators in the text form: what generated code must compute bit for bit.

    random_nets.py SEED OUT.ag [--nodes 40] [--kinds conv,depthwise,dense,sum] [--chain 0.3] [--most 12]

Every node has random shapes, strides, padding, dilation, activation, zero points, scales for the whole tensor or for
each channel, weights and bias. Its input is one of the graph's, or (--chain: how often) the result of an earlier node,
so that fused operators, residual sums and channels that are constant come up too. Results are outputs, but half of
those that another node reads. Most multipliers spread the accumulators over the range of a byte; some are far too large
or too small, and some clamps leave a few values. The same seed gives the same text everywhere. --most bounds rows,
columns and half the channels.
"""
import argparse
import math
import random
import struct
import sys

CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 11, 12, 13, 16, 16, 17, 20, 24)
ACTIVATIONS = ("none", "none", "relu", "relu", "relu6", "relu_n1_to_1")


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def number(x):
    return "%.9g" % f32(x)


class Net:
    def __init__(self, seed, chain, most):
        self.r = random.Random(seed)
        self.chain, self.most = chain, most
        self.head, self.body, self.results, self.outputs = [], [], [], []

    def quant(self):
        """Scale and zero point of an activation; zero points at the ends are frequent in real nets."""
        zero = self.r.choice((-128, 0, 127, self.r.randint(-128, 127), self.r.randint(-128, 127)))
        return f32(2.0 ** self.r.uniform(-8, 0)), zero

    def channels(self):
        return min(self.r.choice(CHANNELS), 2 * self.most)

    def input(self, shape):
        x = ("x%d" % len(self.head), shape, self.quant())
        self.head.append("  input %s: i8[%s] q(%s, %d)" % (x[0], ",".join(map(str, shape)), number(x[2][0]), x[2][1]))
        return x

    def operand(self, shape, fits=lambda shape: True):
        """An input of the graph, or an earlier result of a shape that fits."""
        known = [x for x in self.results if fits(x[1])]
        if known and self.r.random() < self.chain:
            x = self.r.choice(known[-6:])
            if x[0] in self.outputs and self.r.random() < 0.5: # what no caller sees may be fused
                self.outputs.remove(x[0])
            return x
        return self.input(shape)

    def bytes(self, n, least=-127, most=127):
        return [self.r.randint(least, most) for _ in range(n)]

    def weights(self, n, per_output, outputs, axis):
        """Bytes, their type's text and the scales; some rows are zero, some reach -128."""
        kind = self.r.random()
        data = self.bytes(n, -128, 127) if kind < 0.1 else self.bytes(n) if kind < 0.7 else self.bytes(n, -12, 12)
        if self.r.random() < 0.2:
            dead = self.r.randrange(outputs)
            for i in range(n):
                if per_output(i) == dead:
                    data[i] = 0
        scale = 2.0 ** self.r.uniform(-12, -4)
        if self.r.random() < 0.7:
            scales = [f32(scale * 2.0 ** self.r.uniform(-2, 2)) for _ in range(outputs)]
            quant = "q(axis %d: %s)" % (axis, ", ".join("%s 0" % number(s) for s in scales))
        else:
            scales = [f32(scale)] * outputs
            quant = "q(%s, 0)" % number(scale)
        return data, quant, scales

    def result_quant(self, accumulator, scale, act):
        """Scale and zero point that spread values of about +-accumulator * scale over a byte, most of the time."""
        spread = accumulator * scale / 100
        kind = self.r.random()
        spread *= 2.0 ** (self.r.uniform(-1, 1) if kind < 0.8 else self.r.uniform(-6, 8))
        if act in ("relu6", "relu_n1_to_1") and self.r.random() < 0.7:
            spread = (6.0 if act == "relu6" else 2.0) / 255 * 2.0 ** self.r.uniform(-0.2, 3)
        zero = -128 if act.startswith("relu") and act != "relu_n1_to_1" and self.r.random() < 0.6 \
            else self.r.choice((0, self.r.randint(-128, 127)))
        return f32(max(spread, 2.0 ** -24)), zero

    def constant(self, name, text):
        self.head.append("  const %s: %s" % (name, text))

    def node(self, shape, quant, call, act, more=""):
        y = ("y%d" % len(self.body), shape, quant)
        self.body.append("  %s: i8[%s] q(%s, %d) = %s%s%s" % (
            y[0], ",".join(map(str, shape)), number(quant[0]), quant[1], call, more,
            "" if act == "none" else " act=" + act))
        self.results.append(y)
        self.outputs.append(y[0])

    def bias(self, k, scales, x, fan_in):
        """The operand, and how large it may be."""
        if self.r.random() < 0.1:
            return "_", 0
        most = int(self.r.choice((0, 100, 30 * fan_in, 3000 * math.sqrt(fan_in))))
        data = [self.r.randint(-most, most) for _ in scales]
        both = [f32(f32(s) * f32(x[2][0])) for s in scales]
        quant = "q(%s, 0)" % number(both[0]) if len(set(both)) == 1 else \
            "q(axis 0: %s)" % ", ".join("%s 0" % number(s) for s in both)
        self.constant("b%d" % k, "i32[%d] %s = [%s]" % (len(data), quant, ", ".join(map(str, data))))
        return "b%d" % k, most

    def finish(self, k, x, shape, w, scales, weights, fan_in, more, op):
        act = self.r.choice(ACTIVATIONS)
        bias, most = self.bias(k, scales, x, fan_in)
        typical = 60 * math.sqrt(sum(v * v for v in weights) / max(len(weights), 1) * fan_in) + most / 2 + 1
        quant = self.result_quant(typical, x[2][0] * scales[0], act)
        operands = "%s, %s" % (x[0], w) + (", " + bias)
        self.node(shape, quant, "%s(%s)" % (op, operands), act, more)

    def window(self, rows, columns):
        """Kernel, stride, dilation and padding that leave something of rows x columns; their text and the result's."""
        while True:
            size = [self.r.choice((1, 1, 2, 3, 3, 3, 4, 5, 10)) for _ in range(2)]
            if self.r.random() < 0.35:
                size = [1, 1]
            stride = [self.r.choice((1, 1, 1, 2, 3)) for _ in range(2)]
            dilation = [self.r.choice((1, 1, 1, 1, 2)) if s == 1 else 1 for s in stride]
            same = self.r.random() < 0.6
            reach = [(s - 1) * d + 1 for s, d in zip(size, dilation)]
            shape = [-(-n // s) if same else (n - e) // s + 1 for n, s, e in zip((rows, columns), stride, reach)]
            if min(shape) >= 1 and (same or all(e <= n for e, n in zip(reach, (rows, columns)))):
                break
        more = " padding=" + ("same" if same else "valid")
        for name, (h, w) in (("stride", stride), ("dilation", dilation)):
            more += (" %s_h=%d" % (name, h) if h > 1 else "") + (" %s_w=%d" % (name, w) if w > 1 else "")
        return size, shape, more

    def image(self):
        shape = (1, self.r.randint(1, self.most), self.r.randint(1, self.most), self.channels())
        return self.operand(shape, lambda s: len(s) == 4)

    def conv(self, k):
        x = self.image()
        (kh, kw), (oh, ow), more = self.window(*x[1][1:3])
        c, oc = x[1][3], self.channels()
        n = kh * kw * c
        data, quant, scales = self.weights(oc * n, lambda i: i // n, oc, 0)
        self.constant("w%d" % k, "i8[%d,%d,%d,%d] %s = %s" % (oc, kh, kw, c, quant, hexed(data)))
        self.finish(k, x, (1, oh, ow, oc), "w%d" % k, scales, data, n, more, "conv_2d")

    def depthwise(self, k):
        x = self.image()
        (kh, kw), (oh, ow), more = self.window(*x[1][1:3])
        oc = x[1][3] * self.r.choice((1, 1, 1, 1, 2, 3))
        data, quant, scales = self.weights(kh * kw * oc, lambda i: i % oc, oc, 3)
        self.constant("w%d" % k, "i8[1,%d,%d,%d] %s = %s" % (kh, kw, oc, quant, hexed(data)))
        self.finish(k, x, (1, oh, ow, oc), "w%d" % k, scales, data, kh * kw, more, "depthwise_conv_2d")

    def dense(self, k):
        shape = (self.r.choice((1, 1, 1, 2, 5)), self.r.choice((1, 3, 8, 17, 32, 64, 100, 130, 256)))
        x = self.operand(shape, lambda s: len(s) == 2)
        i, o = x[1][1], self.r.choice((1, 2, 3, 4, 7, 8, 10, 12, 16, 31, 40))
        data, quant, scales = self.weights(o * i, lambda j: j // i, o, 0)
        self.constant("w%d" % k, "i8[%d,%d] %s = %s" % (o, i, quant, hexed(data)))
        self.finish(k, x, (x[1][0], o), "w%d" % k, scales, data, i, "", "fully_connected")

    def sum(self, k):
        x = self.image()
        z = self.operand(x[1], lambda s: s == x[1])
        if self.r.random() < 0.15:
            z = self.input((1, 1, 1, x[1][3]))
        act = self.r.choice(ACTIVATIONS)
        self.node(x[1], self.result_quant(120, max(x[2][0], z[2][0]), act), "add(%s, %s)" % (x[0], z[0]), act)

    def text(self, seed):
        return "\n".join(["graph random_%d {" % seed] + self.head + self.body +
                         ["  output " + ", ".join(self.outputs), "}", ""])


def hexed(data):
    return 'hex "%s"' % "".join("%02x" % (v & 255) for v in data)


def make(seed, nodes=40, kinds=("conv", "depthwise", "dense", "sum"), chain=0.3, most=12):
    net = Net(seed, chain, most)
    for k in range(nodes):
        getattr(net, kinds[k % len(kinds)])(k)
    return net.text(seed)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("seed", type=int)
    ap.add_argument("out")
    ap.add_argument("--nodes", type=int, default=40)
    ap.add_argument("--kinds", default="conv,depthwise,dense,sum")
    ap.add_argument("--chain", type=float, default=0.3)
    ap.add_argument("--most", type=int, default=12)
    o = ap.parse_args()
    with open(o.out, "w") as f:
        f.write(make(o.seed, o.nodes, o.kinds.split(","), o.chain, o.most))
    return 0


if __name__ == "__main__":
    sys.exit(main())
