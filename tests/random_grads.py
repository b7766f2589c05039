#!/usr/bin/env python3
"""Compares gradients of random graphs with central differences, both computed by arenac.

    random_grads.py ARENAC FIRST COUNT [--backend eval] [--keep DIR]

Graph number n is generated from seed n: some inputs of f64, a dozen random operators with random shapes and attributes,
operands broadcast, results read several times, and outputs with separate cotangents. `arenac grad` gives the gradients
of all inputs; along random directions v they must agree with (F(x + h v) - F(x - h v)) / 2 h, F the sum of cotangent *
output over all outputs. Every fourth graph has operators that exist for f32 only between casts: then all operators are
smooth, h is larger, and four points make the difference. A corner (relu, a maximum) within h of the point invalidates
differences, so the direction is tried again with a smaller h before it counts as wrong. Exit status 1 when a gradient
is wrong, or a graph is refused."""
import argparse
import array
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile


def write_npy(path, shape, values):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % "".join("%d," % d for d in shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                     array.array("d", values).tobytes())


def read_npy(path):
    data = path.read_bytes()
    n = struct.unpack("<H", data[8:10])[0]
    assert b"'<f8'" in data[10:10 + n], path
    values = array.array("d")
    values.frombytes(data[10 + n:])
    return values


def size(shape):
    return math.prod(shape)


class Graph:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.smooth = seed % 4 == 3  # has operators of f32
        self.lines, self.known, self.inputs, self.used = [], [], [], set()
        self.names = 0
        for _ in range(self.r.randint(1, 3)):
            self.input(self.shape())
        for _ in range(self.r.randint(4, 12)):
            self.step()
        ends = [x for x in self.known if x[0] not in self.used and x not in self.inputs]
        self.outputs = ends or [self.known[-1]]

    # ---------------------------------------------------------------- text
    def fresh(self, prefix="t"):
        self.names += 1
        return "%s%d" % (prefix, self.names)

    def input(self, shape):
        x = (self.fresh("x"), tuple(shape))
        self.inputs.append(x)
        self.known.append(x)
        return x

    def text(self):
        heads = ["  input %s: f64[%s]" % (n, ",".join(map(str, s))) for n, s in self.inputs]
        return "graph g {\n%s\n  output %s\n}\n" % ("\n".join(heads + self.lines),
                                                    ", ".join(n for n, _ in self.outputs))

    def const(self, kind, shape, values):
        name = self.fresh("c")
        dims = ",".join(map(str, shape))
        self.lines.append("  const %s: %s[%s] = [%s]" % (name, kind, dims, ", ".join(map(str, values))))
        return name

    def node(self, op, operands, shape, attrs="", keep=True):
        y = (self.fresh(), tuple(shape))
        for x in operands:
            if not isinstance(x, str):
                self.used.add(x[0])
        args = ", ".join(x if isinstance(x, str) else x[0] for x in operands)
        self.lines.append("  %s = %s(%s) %s" % (y[0], op, args, attrs))
        if keep:
            self.known.append(y)
        return y

    # ---------------------------------------------------------------- operands
    def shape(self, rank=None, least=1, most=4):
        rank = self.r.randint(0, 4) if rank is None else rank
        return [self.r.randint(least, most) for _ in range(rank)]

    def any(self, fits=lambda s: True, make=None):
        good = [x for x in self.known if fits(x[1]) and size(x[1]) <= 400]
        if good and self.r.random() < 0.85:
            return self.r.choice(good[-5:])
        return self.input(make() if make else self.shape())

    def ranked(self, least, most=5):
        return self.any(lambda s: least <= len(s) <= most, lambda: self.shape(self.r.randint(least, min(most, 4))))

    def tame(self, x):
        """Values within -1 .. 1."""
        return self.node("tanh", [x], x[1], keep=False)

    def positive(self, x):
        half = self.const("f64", [], [0.5])
        return self.node("add", [self.node("logistic", [x], x[1], keep=False), half], x[1], keep=False)

    # ---------------------------------------------------------------- operators
    def step(self):
        kinds = [self.unary, self.unary, self.binary, self.binary, self.matmul, self.matrix, self.reduce, self.rows,
                 self.move, self.move, self.index, self.window, self.back]
        getattr(self, self.r.choice(kinds).__name__)() if not self.smooth or self.r.random() < 0.7 else self.single()

    def unary(self):
        x = self.any()
        smooth = ["tanh", "logistic", "sin", "cos", "erf", "atan", "neg", "gelu", "exp", "square", "log", "sqrt",
                  "rsqrt", "erfc", "expm1", "log1p", "softplus", "mish", "swish", "sinh", "cosh", "tan", "asin", "acos",
                  "asinh", "acosh", "atanh"]
        bent = ["abs", "relu", "relu6", "relu_n1_to_1", "relu_0_to_1", "leaky_relu", "elu", "hard_swish"]
        op = self.r.choice(smooth if self.smooth else smooth + bent)
        if op in ("exp", "square", "expm1", "sinh", "cosh", "tan", "asin", "acos", "atanh"):
            x = self.tame(x)
        if op in ("asin", "acos", "atanh"):
            x = self.node("mul", [x, self.const("f64", [], [0.8])], x[1], keep=False)
        if op in ("log", "sqrt", "rsqrt", "log1p", "acosh"):
            x = self.positive(x)
        if op == "acosh":
            x = self.node("add", [x, self.const("f64", [], [1.0])], x[1], keep=False)
        attrs = {"leaky_relu": "alpha=0.3", "swish": "alpha=%s" % self.r.choice((1, 1.5)),
                 "gelu": "approximate=%s" % self.r.choice(("true", "false"))}.get(op, "")
        self.node(op, [x], x[1], attrs)

    def thinner(self, shape):
        """A shape that broadcasts to this one."""
        s = [1 if self.r.random() < 0.3 else d for d in shape]
        return s[self.r.randint(0, len(s)):] if self.r.random() < 0.3 else s

    def binary(self):
        x = self.any()
        s = self.thinner(x[1])
        y = x if self.r.random() < 0.1 else self.any(lambda t: list(t) == s, lambda: s)
        op = self.r.choice(["add", "sub", "mul", "div", "squared_difference", "pow"] +
                           ([] if self.smooth else ["maximum", "minimum", "select", "prelu", "floor_mod"]))
        if op == "floor_mod" and y is x:
            op = "add"
        if op in ("div", "floor_mod"):
            y = self.positive(y)
        if op == "pow":
            x, y = self.positive(x), self.tame(y)
        out = x[1] if len(x[1]) >= len(y[1]) else y[1]
        if op == "select":
            c = self.node("greater", [x, y], out, keep=False)
            self.node("select", [c, x, y], out)
            return
        ends = [x, y] if op in ("pow", "prelu", "div", "floor_mod") or self.r.random() < 0.5 else [y, x]
        self.node(op, ends, out)

    def matmul(self):
        x = self.any(lambda s: 2 <= len(s) <= 4, lambda: self.shape(self.r.randint(2, 4)))
        ax, ay = self.r.random() < 0.4, self.r.random() < 0.4
        m, k = x[1][-2:][::-1] if ax else x[1][-2:]
        n = self.r.randint(1, 5)
        lead = self.thinner(x[1][:-2]) if self.r.random() < 0.7 else list(x[1][:-2])
        s = lead + ([n, k] if ay else [k, n])
        y = self.any(lambda t: list(t) == s, lambda: s)
        text = "adj_x=%s adj_y=%s" % (str(ax).lower(), str(ay).lower())
        if self.r.random() < 0.2 and len(x[1]) == 2 and not ax and not ay and len(s) == 2:
            self.node("einsum", [x, y], [m, n], "labels=[0,1,1,2,0,2]")
        else:
            self.node("batch_matmul", [x, y], list(x[1][:-2]) + [m, n], text)

    def matrix(self):
        n = self.r.randint(1, 4)
        make = lambda: self.shape(self.r.randint(0, 2)) + [n, n]
        x = self.any(lambda s: 2 <= len(s) <= 4 and s[-1] == s[-2] == n, make)
        # the diagonal, in another order, is greater than all else of a row: it has an inverse
        order = self.r.sample(range(n), n)
        unit = self.const("f64", [n, n], [float(order[i] == j) * 2 for i in range(n) for j in range(n)])
        part = self.node("mul", [self.tame(x), self.const("f64", [], [1.5 / n])], x[1], keep=False)
        y = self.node("add", [part, unit], x[1], keep=False)
        op = self.r.choice(["det", "inverse"])
        self.node(op, [y], x[1][:-2] if op == "det" else x[1])

    def reduce(self):
        x = self.ranked(1)
        axes = [d for d in range(len(x[1])) if self.r.random() < 0.5] or [self.r.randrange(len(x[1]))]
        keep = self.r.random() < 0.5
        op = self.r.choice(["sum", "mean", "reduce_prod"] + ([] if self.smooth else ["reduce_max", "reduce_min"]))
        shape = [1 if d in axes else n for d, n in enumerate(x[1]) if keep or d not in axes]
        self.node(op, [self.tame(x) if op == "reduce_prod" else x], shape,
                  "axes=%s keep_dims=%s" % (axes, str(keep).lower()))

    def rows(self):
        x = self.ranked(1)
        op = self.r.choice(["softmax", "log_softmax", "cumsum", "cumprod"])
        if op.startswith("cum"):
            axis = self.const("i32", [], [self.r.randrange(len(x[1]))])
            flags = "exclusive=%s reverse=%s" % tuple(self.r.choice(("true", "false")) for _ in range(2))
            self.node(op, [self.tame(x) if op == "cumprod" else x, axis], x[1], flags)
        else:
            self.node(op, [x], x[1], "beta=%g" % self.r.choice((1, 0.5)) if op == "softmax" else "")

    def move(self):
        self.r.choice([self.reshape, self.transpose, self.slice, self.strided, self.concat, self.split, self.pack,
                       self.unpack, self.pad, self.mirror, self.tile, self.reverse, self.blocks])()

    def reshape(self):
        x = self.any()
        n, s = size(x[1]), []
        while n > 1 and len(s) < 3:
            d = self.r.choice([d for d in range(1, n + 1) if n % d == 0])
            s.append(d)
            n //= d
        self.node("reshape", [x], s + [n], "shape=%s" % (s + [n]))

    def transpose(self):
        x = self.ranked(1)
        perm = self.r.sample(range(len(x[1])), len(x[1]))
        self.node("transpose", [x], [x[1][p] for p in perm], "perm=%s" % perm)

    def slice(self):
        x = self.ranked(1)
        begin = [self.r.randrange(d) for d in x[1]]
        extent = [self.r.randint(1, d - b) for d, b in zip(x[1], begin)]
        self.node("slice", [x], extent, "begin=%s size=%s" % (begin, extent))

    def strided(self):
        x = self.ranked(1)
        begin, end, step, out = [], [], [], []
        for d in x[1]:
            s, b = self.r.choice((1, 1, 2, 3, -1, -2)), self.r.randrange(d)
            n = self.r.randint(1, (d - 1 - b) // s + 1 if s > 0 else b // -s + 1)
            begin.append(b)
            step.append(s)
            end.append(b + n * s if s > 0 else max(b + n * s, -1 - d))
            if s < 0 and b + n * s < 0:
                end[-1] = -1 - d
            out.append(n)
        self.node("strided_slice", [x], out, "begin=%s end=%s strides=%s" % (begin, end, step))

    def concat(self):
        x = self.ranked(1)
        axis = self.r.randrange(len(x[1]))
        same = [y for y in self.known if len(y[1]) == len(x[1]) and
                all(p == q for d, (p, q) in enumerate(zip(x[1], y[1])) if d != axis)]
        parts = [x] + [self.r.choice(same) for _ in range(self.r.randint(1, 2))]
        out = list(x[1])
        out[axis] = sum(p[1][axis] for p in parts)
        self.node("concatenation", parts, out, "axis=%d" % axis)

    def split(self):
        x = self.ranked(1)
        axis = self.r.randrange(len(x[1]))
        n = self.r.choice([n for n in range(1, x[1][axis] + 1) if x[1][axis] % n == 0])
        shape = list(x[1])
        shape[axis] //= n
        names = [self.fresh() for _ in range(n)]
        self.used.add(x[0])
        at = self.const("i32", [], [axis])
        self.lines.append("  %s = split(%s, %s)" % (", ".join(names), at, x[0]))
        self.known += [(name, tuple(shape)) for name in names if self.r.random() < 0.8]

    def pack(self):
        x = self.any(lambda s: len(s) <= 3, lambda: self.shape(2))
        parts = [x] + [y for y in self.known if y[1] == x[1]][:2]
        axis = self.r.randint(0, len(x[1]))
        self.node("pack", parts, list(x[1][:axis]) + [len(parts)] + list(x[1][axis:]), "axis=%d" % axis)

    def unpack(self):
        x = self.ranked(1)
        axis = self.r.randrange(len(x[1]))
        names = [self.fresh() for _ in range(x[1][axis])]
        self.used.add(x[0])
        self.lines.append("  %s = unpack(%s) axis=%d" % (", ".join(names), x[0], axis))
        shape = tuple(x[1][:axis]) + tuple(x[1][axis + 1:])
        self.known += [(name, shape) for name in names if self.r.random() < 0.8]

    def pad(self):
        x = self.ranked(1)
        pads = [self.r.choice((0, 0, 1, 2)) for _ in range(2 * len(x[1]))]
        self.node("pad", [x], [n + pads[2 * d] + pads[2 * d + 1] for d, n in enumerate(x[1])], "pads=%s" % pads)

    def mirror(self):
        x = self.ranked(1)
        symmetric = self.r.random() < 0.5
        pads = [self.r.randint(0, n if symmetric else n - 1) for n in x[1] for _ in range(2)]
        self.node("mirror_pad", [x], [n + pads[2 * d] + pads[2 * d + 1] for d, n in enumerate(x[1])],
                  "pads=%s symmetric=%s" % (pads, str(symmetric).lower()))

    def tile(self):
        x = self.ranked(1, 4)
        times = [self.r.choice((1, 1, 2, 3)) for _ in x[1]]
        if self.r.random() < 0.5:
            shape = [n if n > 1 else self.r.randint(1, 3) for n in x[1]]
            self.node("broadcast_to", [x], shape, "shape=%s" % shape)
        else:
            self.node("tile", [x, self.const("i32", [len(times)], times)], [n * t for n, t in zip(x[1], times)])

    def reverse(self):
        x = self.ranked(1)
        self.node("reverse_v2", [x, self.const("i32", [1], [self.r.randrange(len(x[1]))])], x[1])

    def blocks(self):
        c = self.r.choice((4, 8))
        x = self.any(lambda s: len(s) == 4 and s[3] % 4 == 0, lambda: [1, 2, 3, c])
        n, h, w, c = x[1]
        y = self.node("depth_to_space", [x], [n, 2 * h, 2 * w, c // 4], "block=2")
        self.node("space_to_depth", [y], [n, h, w, c], "block=2")

    def index(self):
        self.r.choice([self.gather, self.gather_nd, self.elements, self.segments, self.topk])()

    def places(self, count, size):
        return [self.r.randrange(size) for _ in range(count)]

    def gather(self):
        x = self.ranked(1, 4)
        axis = self.r.randrange(len(x[1]))
        s = self.shape(self.r.randint(0, 2))
        i = self.const("i32", s, self.places(size(s), x[1][axis]))
        self.node("gather", [x, i], list(x[1][:axis]) + s + list(x[1][axis + 1:]), "axis=%d" % axis)

    def gather_nd(self):
        x = self.ranked(1, 4)
        k, n = self.r.randint(1, len(x[1])), self.r.randint(1, 4)
        i = self.const("i64", [n, k], [self.r.randrange(x[1][d]) for _ in range(n) for d in range(k)])
        if self.r.random() < 0.5:
            self.node("gather_nd", [x, i], [n] + list(x[1][k:]))
            return
        u = self.any(lambda s: list(s) == [n] + list(x[1][k:]), lambda: [n] + list(x[1][k:]))
        self.node("scatter_into", [x, i, u], x[1], "reduction=add")

    def elements(self):
        x = self.ranked(1, 4)
        axis = self.r.randrange(len(x[1]))
        i = self.const("i64", x[1], self.places(size(x[1]), x[1][axis]))
        if self.r.random() < 0.5:
            self.node("gather_elements", [x, i], x[1], "axis=%d" % axis)
        else:
            u = self.any(lambda s: s == x[1], lambda: x[1])
            self.node("scatter_elements", [x, i, u], x[1], "axis=%d reduction=add" % axis)

    def segments(self):
        x = self.ranked(1, 4)
        n = self.r.randint(1, 3)
        i = self.const("i32", [x[1][0]], [self.r.randint(-1, n - 1) for _ in range(x[1][0])])
        how = self.r.choice(["sum"] if self.smooth else ["sum", "max", "min"])
        y = self.node("unsorted_segment_" + how, [x, i, self.const("i32", [], [n])], [n] + list(x[1][1:]))
        if how != "sum":  # of an empty segment: the end of the range
            self.known[-1] = self.node("relu6", [y], y[1], keep=False)

    def topk(self):
        if self.smooth:
            return self.gather()
        x = self.ranked(1)
        k = self.r.randint(1, x[1][-1])
        name = self.fresh()
        self.used.add(x[0])
        self.lines.append("  %s, %s = topk_v2(%s, %s)" % (name, self.fresh("i"), x[0], self.const("i32", [], [k])))
        self.known.append((name, tuple(x[1][:-1]) + (k,)))

    def window(self):
        m = self.r.randint(1, 3)
        x = self.any(lambda s: len(s) == m + 2, lambda: [self.r.randint(1, 2)] + self.shape(m, 2, 5) + [4])
        kernel, stride, dil, pads, out = [], [], [], [], []
        for n in x[1][1:-1]:
            k, s, d, p, q = (self.r.randint(1, 3), self.r.randint(1, 3), self.r.randint(1, 2), self.r.randint(0, 2),
                             self.r.randint(0, 2))
            while n + p + q < (k - 1) * d + 1:
                k -= 1
            kernel.append(k)
            stride.append(s)
            dil.append(d)
            pads += [p, q]
            out.append((n + p + q - (k - 1) * d - 1) // s + 1)
        n, c = x[1][0], x[1][-1]
        how = self.r.choice(["conv", "sum"] if self.smooth else ["conv", "sum", "max"])
        if how != "conv":
            self.node("window_" + how, [x], [n] + out + [c], "kernel=%s strides=%s dilations=%s pads=%s" % (
                [1] + kernel + [1], [1] + stride + [1], [1] + dil + [1], [0, 0] + pads + [0, 0]))
            if how == "max":  # of a window in the padding: -inf
                self.known[-1:] = [self.node("maximum", [self.known[-1], self.const("f64", [], [-9])],
                                             self.known[-1][1], keep=False)]
            return
        groups = self.r.choice([g for g in (1, 2, 4, c) if c % g == 0])
        o = groups * self.r.randint(1, 3)
        w = self.input(kernel + [c // groups, o])
        self.node("conv_nd", [x, w], [n] + out + [o], "strides=%s dilations=%s pads=%s groups=%d" % (
            stride, dil, pads, groups))

    def back(self):
        """The operators that gradients are made of: theirs are second derivatives."""
        m = self.r.randint(1, 2)
        n, c = self.r.randint(1, 2), self.r.choice((1, 2, 4, 6))
        groups = self.r.choice([g for g in (1, 2, c) if c % g == 0])
        o = groups * self.r.randint(1, 3)
        out, kernel, stride, dil = ([self.r.randint(1, most) for _ in range(m)] for most in (4, 3, 3, 2))
        before = [self.r.randint(0, 2) for _ in range(m)]
        extent = [max(1, (p - 1) * s + (k - 1) * d + 1 - b - self.r.randint(0, 1))
                  for p, k, s, d, b in zip(out, kernel, stride, dil, before)]
        attrs = "strides=%s dilations=%s before=%s groups=%d extent=" % (stride, dil, before, groups)
        dy = self.any(lambda t: list(t) == [n] + out + [o], lambda: [n] + out + [o])
        how = self.r.choice(["data", "filter", "sum"] + ([] if self.smooth else ["max"]))
        if how == "data":
            w = self.input(kernel + [o, c // groups])
            self.node("conv_nd_data", [dy, w], [n] + extent + [c], attrs + str(extent))
        elif how == "filter":
            x = self.input([n] + extent + [c])
            self.node("conv_nd_filter", [x, dy], kernel + [c // groups, o], attrs + str(kernel))
        elif how == "sum":
            pads = [p for b in before for p in (b, 0)]
            self.node("window_sum_back", [dy], [n] + extent + [o],
                      "kernel=%s strides=%s dilations=%s pads=%s extent=%s" % (
                          [1] + kernel + [1], [1] + stride + [1], [1] + dil + [1], [0, 0] + pads + [0, 0],
                          [n] + extent + [o]))
        else:
            x = self.input([n] + [(p - 1) * s + k for p, s, k in zip(out, stride, kernel)] + [o])
            self.node("window_max_back", [x, dy], x[1],
                      "kernel=%s strides=%s" % ([1] + kernel + [1], [1] + stride + [1]))

    # ---------------------------------------------------------------- f32 only
    def single(self):
        x = self.any(lambda s: len(s) == 4, lambda: [self.r.randint(1, 2)] + self.shape(2, 2, 6) + [4])
        n, h, w, c = x[1]
        x = self.node("cast", [self.tame(x)], x[1], "to=f32", keep=False)
        op = self.r.choice(["conv", "depthwise", "transposed", "average", "l2norm", "lrn", "bilinear", "dense", "mean"])
        s = self.r.randint(1, 2)
        if op in ("conv", "depthwise", "transposed"):
            k = self.r.randint(1, 3)
            o = self.r.choice((1, 2, 4)) if op != "depthwise" else c * self.r.randint(1, 2)
            shape = {"conv": [o, k, k, c], "depthwise": [1, k, k, o], "transposed": [o, k, k, c]}[op]
            if op == "conv" and c % 2 == 0 and o % 2 == 0 and self.r.random() < 0.3:
                shape[3] = c // 2
            f = self.node("cast", [self.input(shape)], shape, "to=f32", keep=False)
            b = self.node("cast", [self.input([o])], [o], "to=f32", keep=False)
            if op == "transposed":
                out = [n, (h - 1) * s + k, (w - 1) * s + k, o]
                y = self.node("transpose_conv", [self.const("i32", [4], out), f, x, b], out,
                              "stride_h=%d stride_w=%d padding=valid" % (s, s), keep=False)
            else:
                same = self.r.random() < 0.5 or k > min(h, w)
                out = [n, -(-h // s), -(-w // s), o] if same else [n, (h - k) // s + 1, (w - k) // s + 1, o]
                y = self.node("conv_2d" if op == "conv" else "depthwise_conv_2d", [x, f, b], out,
                              "stride_h=%d stride_w=%d padding=%s act=%s" % (
                                  s, s, "same" if same else "valid", self.r.choice(("none", "tanh"))), keep=False)
        elif op == "average":
            k = self.r.randint(1, 3)
            out = [n, -(-h // s), -(-w // s), c]
            attrs = "kernel_h=%d kernel_w=%d stride_h=%d stride_w=%d padding=same" % (k, k, s, s)
            y = self.node("average_pool_2d", [x], out, attrs, keep=False)
        elif op == "bilinear":
            out = [n, h + self.r.randint(-1, 3), w + self.r.randint(-1, 3), c]
            out[1:3] = [max(1, d) for d in out[1:3]]
            mode = self.r.choice(("", "align_corners=true", "half_pixel_centers=true"))
            y = self.node("resize_bilinear", [x], out, "size=%s %s" % (out[1:3], mode), keep=False)
        elif op == "dense":
            o = self.r.randint(1, 4)
            f = self.node("cast", [self.input([o, c])], [o, c], "to=f32", keep=False)
            b = self.node("cast", [self.input([o])], [o], "to=f32", keep=False)
            out = [n, h, w, o]
            y = self.node("fully_connected", [x, f, b], out, "keep_dims=true act=%s" % self.r.choice(("none", "tanh")),
                          keep=False)
        else:
            name, attrs = {"l2norm": ("l2_normalization", ""), "mean": ("mean", "axes=[1,2] keep_dims=true"),
                           "lrn": ("local_response_normalization", "radius=1 bias=1 alpha=0.5 beta=0.75")}[op]
            out = [n, 1, 1, c] if op == "mean" else x[1]
            if op == "l2norm":  # far from 0, where it jumps
                x = self.node("add", [x, self.const("f32", [], [1.5])], x[1], keep=False)
            y = self.node(name, [x], out, attrs, keep=False)
        self.node("cast", [y], y[1], "to=f64")


class Trial:
    def __init__(self, arenac, backend, seed, folder):
        self.arenac, self.backend, self.folder = arenac, backend, folder
        self.graph, self.r = Graph(seed), random.Random(seed + 1000000)
        self.model = folder / "g.ag"
        self.model.write_text(self.graph.text())
        self.x = [[self.r.uniform(-1.5, 1.5) for _ in range(size(s))] for _, s in self.graph.inputs]
        self.g = [[self.r.uniform(-1, 1) for _ in range(size(s))] for _, s in self.graph.outputs]

    def arrays(self, kind, tensors, values):
        words = []
        for i, ((_, shape), v) in enumerate(zip(tensors, values)):
            path = self.folder / ("%s%d.npy" % (kind, i))
            write_npy(path, shape, v)
            words += ["--" + kind, "%d=%s" % (i, path)]
        return words

    def call(self, *words):
        p = subprocess.run([self.arenac, *words, "--backend", self.backend, "--output-dir", str(self.folder), "-q"],
                           capture_output=True, text=True, timeout=100)
        if p.returncode:
            raise RuntimeError("exit %d: %s" % (p.returncode, p.stderr))

    def value(self, x):
        self.call("run", str(self.model), *self.arrays("input", self.graph.inputs, x))
        total = []
        for j, g in enumerate(self.g):
            total += [p * q for p, q in zip(g, read_npy(self.folder / ("%d.npy" % j)))]
        return math.fsum(total)

    def at(self, v, h):
        return self.value([[p + h * q for p, q in zip(x, d)] for x, d in zip(self.x, v)])

    def slope(self, v, h):
        one = self.at(v, h) - self.at(v, -h)
        if not self.graph.smooth:
            return one / (2 * h)
        return (8 * one - (self.at(v, 2 * h) - self.at(v, -2 * h))) / (12 * h)

    def run(self):
        """None, or the failure."""
        self.call("grad", str(self.model), *self.arrays("input", self.graph.inputs, self.x),
                  *self.arrays("cotangent", self.graph.outputs, self.g))
        grads = [read_npy(self.folder / ("grad%d.npy" % i)) for i in range(len(self.x))]
        for i, (d, x) in enumerate(zip(grads, self.x)):
            if len(d) != len(x) or not all(map(math.isfinite, d)):
                return "grad%d is not finite, or of another size" % i
        v = [[self.r.uniform(-1, 1) for _ in x] for x in self.x]
        v = [[q if self.r.random() < 0.5 else 0 for q in d] for d in v] if self.r.random() < 0.3 else v
        mine = math.fsum(p * q for d, w in zip(grads, v) for p, q in zip(d, w))
        scale = math.hypot(*(p for d in grads for p in d)) * math.hypot(*(q for w in v for q in w))
        steps, tolerance = ([0.02, 0.005], 2e-3) if self.graph.smooth else ([1e-5, 1e-6, 1e-7], 1e-5)
        seen = []
        for h in steps:
            theirs = self.slope(v, h)
            seen.append(theirs)
            if abs(mine - theirs) <= tolerance * (scale + 1e-3) + 1e-6 * abs(theirs):
                return None
        return "the gradient along a direction is %.9g, differences say %s" % (mine, seen)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("arenac")
    p.add_argument("first", type=int)
    p.add_argument("count", type=int)
    p.add_argument("--backend", default="eval")
    p.add_argument("--keep")
    o = p.parse_args()
    bad = 0
    for seed in range(o.first, o.first + o.count):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(o.keep or made)
            folder.mkdir(exist_ok=True)
            trial = Trial(o.arenac, o.backend, seed, folder)
            try:
                wrong = trial.run()
            except RuntimeError as e:
                wrong = str(e)
            if wrong:
                bad += 1
                print("graph %d: %s\n%s" % (seed, wrong, trial.graph.text()))
    print("%d of %d graphs have the gradients that differences say" % (o.count - bad, o.count))
    sys.exit(bad > 0)


main()
