#!/usr/bin/env python3
"""A random product or convolution as text of a graph: products.py SEED [norm|bytes]

Of floats, or with bytes of bytes. norm: rows that are brought to mean 0, or only to variance 1, by separate operators,
then multiplied; some are rounded to 16 bits before."""
import math
import random
import sys

r = random.Random(int(sys.argv[1]))
kind = r.choice(["conv", "conv", "conv", "dilated", "groups", "pixel", "rows"])
kind = "norm" if sys.argv[2:] == ["norm"] else kind
end = "%s act=%s" % (", bias" if r.random() < 0.6 else "", r.choice(["none", "relu", "relu6"]))
n = r.choice([4, 5, 7, 8, 10, 12, 16, 24, 32, 33, 48, 64, 72, 100, 130])
if kind in ("rows", "norm"):
    m = r.randint(8, 200) if kind == "rows" else r.choice([1, 1, 2, 3, 5, 8, 9, 20, 33, 100])
    k = r.choice([1, 3, 5, 17, 31, 32, 33, 48, 60, 64, 100, 130, 192, 250, 256, 512])
    x, w, y = "%d,%d" % (m, k), "%d,%d" % (n, k), "fully_connected(x, w%s" % end.replace(" act", ") act", 1)
    if kind == "norm":
        k = r.choice([32, 33, 48, 64, 100, 128, 192, 256, 300, 768])
        x, w = "%d,%d" % (m, k), "%d,%d" % (n, k)
        y = "fully_connected(r, w%s) keep_dims=true" % r.choice(["", ", bias"])
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
chain = r.random() < 0.4
if sys.argv[2:] == ["bytes"]:
    depth = math.prod(map(int, w.split(",")[1:]))
    made = "y: i8[%s] q(%.6f, %d)"
    if kind == "rows":
        shape = "%d,%d" % (m, n)
    else:
        reach, images = (k - 1) * (2 if kind == "dilated" else 1) + 1, x.split(",")[0]
        size = [-(-v // stride) if "=same" in y else (v - reach) // stride + 1 for v in (h, wide)]
        shape = "%s,%d,%d,%d" % (images, *size, n)
    made %= shape, 0.05 * 0.02 * 73 * 73 * math.sqrt(depth) / 40, r.randint(-128, 20)
    scales = "axis 0: " + ", ".join("%.4f 0" % r.uniform(0.002, 0.03) for _ in range(n))
    scales = scales if r.random() < 0.7 else "0.02, 0"
    print("graph product {\n  input x: i8[%s] q(0.05, %d)" % (x, r.randint(-128, 127)))
    print("  const w: i8[%s] q(%s) = random 3 (-127, 127)" % (w, scales))
    print("  const bias: i32[%d] = random 4 (-900, 900)\n  %s = %s" % (n, made, y))
    print("  z: i8[%s] q(0.9, 3) = add(y, y)" % shape if chain else "")
    print("  output %s\n}" % ("z" if chain else "y"))
    sys.exit()
print("graph product {\n  input x: f32[%s]\n  const w: f32[%s] = random 3" % (x, w))
print("  const bias: f32[%d] = random 4" % n)
if kind == "norm":
    center, d = r.choice([(True, "d"), (True, "d"), (False, "x")])
    print("  const epsilon: f32[] = [1e-5]")
    print("  const gain: f32[%d] = random 5\n  const shift: f32[%d] = random 6" % (k, k))
    print("  m = mean(x) axes=[1] keep_dims=true\n  d = sub(x, m)" if center else "")
    print("  s = square(%s)\n  v = mean(s) axes=[1] keep_dims=true\n  e = add(v, epsilon)\n  q = sqrt(e)" % d)
    print("  n = div(%s, q)\n  g = %s\n  h = %s" % (d, r.choice(["mul(n, gain)", "reshape(n) shape=[%d,%d]" % (m, k)]),
                                                  r.choice(["add(g, shift)", "add(shift, g)"])))
    rounds = r.random() < 0.3
    print("  c = cast(h) to=f16\n  r = cast(c) to=f32" if rounds else "  r = reshape(h) shape=[%d,%d]" % (m, k))
print("  y = " + y)
print("  z = add(y, y)\n  t = tanh(z)" if chain else "")
kept = kind == "norm" and r.random() < 0.5
print("  u = mul(r, gain)" if kept else "")
print("  output %s%s\n}" % ("t" if chain else "y", ", u" if kept else ""))
