#!/usr/bin/env python3
"""A random product or convolution of floats as text of a graph: products.py SEED"""
import random
import sys

r = random.Random(int(sys.argv[1]))
kind = r.choice(["conv", "conv", "conv", "dilated", "groups", "pixel", "rows"])
end = "%s act=%s" % (", bias" if r.random() < 0.6 else "", r.choice(["none", "relu", "relu6"]))
n = r.choice([4, 5, 7, 8, 10, 12, 16, 24, 32, 33, 48, 64, 72, 100, 130])
if kind == "rows":
    m, k = r.randint(8, 200), r.choice([1, 3, 5, 17, 31, 32, 33, 48, 60, 64, 100, 130, 192, 250, 256, 512])
    x, w, y = "%d,%d" % (m, k), "%d,%d" % (n, k), "fully_connected(x, w%s" % end.replace(" act", ") act", 1)
else:
    k = 1 if kind == "pixel" else 3 if kind == "dilated" else r.choice([1, 2, 3, 3, 5, 7])
    stride = 1 if kind == "dilated" else r.choice([1, 1, 2])
    c = r.choice([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 64, 96])
    h, wide = (r.randint(2 * k, 15) + r.choice([0, 4]) for _ in range(2))
    groups = r.choice([2, 4]) if kind == "groups" else 1
    c, n = -(-c // groups) * groups, -(-n // groups) * groups
    x, w = "%d,%d,%d,%d" % (r.choice([1, 1, 2]), h, wide, c), "%d,%d,%d,%d" % (n, k, k, c // groups)
    y = "conv_2d(x, w%s padding=%s stride_h=%d stride_w=%d%s" % (
        end.replace(" act", ") act", 1), r.choice(["same", "valid"]), stride, stride,
        " dilation_h=2 dilation_w=2" if kind == "dilated" else "")
print("graph product {\n  input x: f32[%s]\n  const w: f32[%s] = random 3" % (x, w))
print("  const bias: f32[%d] = random 4" % n)
print("  y = " + y)
chain = r.random() < 0.4
print("  z = add(y, y)\n  t = tanh(z)" if chain else "")
print("  output %s\n}" % ("t" if chain else "y"))
