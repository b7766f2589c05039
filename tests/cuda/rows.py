#!/usr/bin/env python3
"""Random products of few rows, depthwise convolutions, softmax, and models of 16 bits: rows.py SEED COUNT KIND >FILE

KIND: f32, i8, f16, bf16, depthwise, softmax (integers). Those of 16 bits have whole numbers as weights and inputs, so
that every sum is exact and all targets have the same bits; operators that move values are among them."""
import random
import sys

HALF = """
input x%(k)d: i8[%(rows)d,%(depth)d]
xh%(k)d: %(h)s[%(rows)d,%(depth)d] = cast(x%(k)d) to=%(h)s
const wi%(k)d: i8[%(shape)s] = random %(k)d (-8, 8)
w%(k)d: %(h)s[%(shape)s] = cast(wi%(k)d) to=%(h)s
const bi%(k)d: i8[%(n)d] = random %(b)d (-8, 8)
b%(k)d: %(h)s[%(n)d] = cast(bi%(k)d) to=%(h)s
xf%(k)d: f32[%(rows)d,%(depth)d] = cast(xh%(k)d)
wf%(k)d: f32[%(shape)s] = cast(w%(k)d)
bf%(k)d: f32[%(n)d] = cast(b%(k)d)
d%(k)d: f32[%(rows)d,%(n)d] = %(op)s(xf%(k)d, wf%(k)d)
h%(k)d: %(h)s[%(rows)d,%(n)d] = cast(d%(k)d) to=%(h)s
g%(k)d: f32[%(rows)d,%(n)d] = cast(h%(k)d)
s%(k)d = add(g%(k)d, bf%(k)d)
t%(k)d: %(h)s[%(rows)d,%(n)d] = cast(s%(k)d) to=%(h)s
u%(k)d: %(h)s[%(n)d,%(rows)d] = transpose(t%(k)d) perm=[1,0]
v%(k)d: %(h)s[%(n)d,%(all)d] = concatenation(u%(k)d, u%(k)d) axis=1
y%(k)d: %(h)s[%(n)d,1] = slice(v%(k)d) begin=[0,%(rows)d] size=[%(n)d,1]
"""

DEPTHWISE = """
input x%(k)d: %(t)s[%(x)s] %(qx)s
const w%(k)d: %(t)s[%(w)s] %(qw)s = random %(k)d
const b%(k)d: %(b)s[%(c)d] = random %(k)d
y%(k)d: %(t)s[%(y)s] %(qy)s = depthwise_conv_2d(x%(k)d, w%(k)d, b%(k)d) %(end)s
"""


def dense(r, kind, k, out):
    """A product with its bias, residual and activation; returns its operators' lines."""
    rows, n, depth = r.choice([1, 1, 1, 2, 3, 5, 7, 9]), r.choice([1, 3, 8, 10, 33, 64, 130, 515]), \
        r.choice([16, 17, 36, 64, 100, 129, 256, 320, 1152]) * (1 if r.random() < 0.8 else 3)
    if kind == "i8":
        depth = (depth + 3) // 4 * 4
        out += ["input x%d: i8[%d,%d] q(0.1, %d)" % (k, rows, depth, r.randint(-9, 9)),
                "const w%d: i8[%d,%d] q(0.02, 0) = random %d (-127, 127)" % (k, n, depth, k),
                "const b%d: i32[%d] = random %d (-1000, 1000)" % (k, n, k),
                "y%d: i8[%d,%d] q(0.9, 2) = fully_connected(x%d, w%d, b%d)%s" %
                (k, rows, n, k, k, k, r.choice(["", " act=relu"]))]
        return
    if kind == "f32":
        out += ["input x%d: f32[%d,%d]" % (k, rows, depth), "const w%d: f32[%d,%d] = random %d" % (k, n, depth, k),
                "const b%d: f32[%d] = random %d" % (k, n, k), "d%d = fully_connected(x%d, w%d, b%d)" % (k, k, k, k),
                "y%d = %s(d%d)" % (k, r.choice(["relu", "logistic", "abs"]), k)]
        return
    turned = r.random() < 0.5  # as MatMul has it
    v = {"k": k, "b": k + 9, "h": kind, "rows": rows, "n": n, "depth": depth, "all": 2 * rows,
         "shape": "%d,%d" % ((depth, n) if turned else (n, depth)),
         "op": "batch_matmul" if turned else "fully_connected"}
    out += [line % v for line in HALF.strip().split("\n")]


def depthwise(r, k, out):
    """Of f32 or i8, with channels that are vectors or not."""
    taps, same, times, n = r.choice([3, 3, 5]), r.random() < 0.5, r.choice([1, 1, 1, 2]), r.choice([1, 2])
    c, (stride, dil) = r.choice([8, 9, 12, 16, 20, 32, 48]), r.choice([(1, 1), (2, 1), (1, 2), (3, 1)])
    size = [r.randint(8, 24) for _ in range(2)]
    made = [(s - 1) // stride + 1 if same else (s - (taps - 1) * dil - 1) // stride + 1 for s in size]
    q = r.random() < 0.5
    v = {"k": k, "x": "%d,%d,%d,%d" % (n, *size, c), "w": "1,%d,%d,%d" % (taps, taps, c * times), "c": c * times,
         "y": "%d,%d,%d,%d" % (n, *made, c * times), "t": "i8" if q else "f32", "b": "i32" if q else "f32",
         "qx": "q(0.1, %d)" % r.randint(-9, 9) if q else "", "qw": "q(0.02, 0)" if q else "",
         "qy": "q(0.9, 2)" if q else "", "end": "padding=%s stride_h=%d stride_w=%d dilation_h=%d dilation_w=%d%s" %
         ("same" if same else "valid", stride, stride, dil, dil, r.choice(["", " act=relu"]))}
    out += [line % v for line in DEPTHWISE.strip().split("\n")]


def softmax(r, k, out):
    """Of rows that a lane holds in registers, with or without columns beyond the last one, and of longer ones."""
    kind, log = r.choice([("i8", "softmax"), ("i8", "softmax"), ("u8", "softmax"), ("i16", "softmax"),
                          ("i8", "log_softmax")])
    low, high = {"i8": ("-128", "127"), "u8": ("0", "255"), "i16": ("0", "0")}[kind]
    rows, n = r.choice([1, 1, 2, 5, 33]), r.choice([8, 12, 31, 32, 33, 100, 1001, 2049])
    to = "0.0625, " + high if log == "log_softmax" else "0.00390625, " + low if kind != "i16" else "3.0517578125e-05, 0"
    step = 0.001 if kind == "i16" else r.choice([0.02, 0.1, 0.3])
    out += ["input x%d: %s[%d,%d] q(%g, 0)" % (k, kind, rows, n, step),
            "y%d: %s[%d,%d] q(%s) = %s(x%d)" % (k, kind, rows, n, to, log, k)]


def main():
    seed, count, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    r, out = random.Random(seed), []
    for k in range(count):
        if kind == "depthwise":
            depthwise(r, k, out)
        elif kind == "softmax":
            softmax(r, k, out)
        else:
            dense(r, kind, k, out)
    names = ", ".join("y%d" % k for k in range(count))
    print("graph rows {\n  " + "\n  ".join(out) + "\n  output " + names + "\n}")


if __name__ == "__main__":
    main()
