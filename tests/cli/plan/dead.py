#!/usr/bin/env python3
"""A MobileNet in int8 with many dead channels, as in trained ones: ReLUs whose bias is lower than any sum of their
weights. Text form, the same for the same seed.

    dead.py SEED SIZE SHARE > net.ag      SIZE x SIZE pixels; SHARE percent of the channels are dead
"""
import random
import sys

seed, size, share = (int(w) for w in sys.argv[1:4])
draw = random.Random(seed)
lines, x, channels = [], "x", 3


def layer(name, op, height, ins, outs, k, stride, act):
    """One convolution; a dead channel has weights that are small compared with its bias."""
    global x
    depthwise = op == "depthwise_conv_2d"
    taps = k * k * (1 if depthwise else ins)
    dead = [act and draw.randrange(100) < share for _ in range(outs)]
    rows = [[draw.randint(-1, 1) if d else draw.randint(-127, 127) for _ in range(taps)] for d in dead]
    bias = [-256 * taps - draw.randrange(999) if d else draw.randint(-2000, 4000) for d in dead]
    w = [rows[o][t] for t in range(taps) for o in range(outs)] if depthwise else [v for r in rows for v in r]
    shape = "1,%d,%d,%d" % (k, k, outs) if depthwise else "%d,%d,%d,%d" % (outs, k, k, ins)
    scales = ", ".join("%.6f 0" % (draw.uniform(0.5, 1.5) / (taps**0.5 * 60)) for _ in range(outs))
    lines.append("  const %s_w: i8[%s] q(axis %d: %s) = hex \"%s\"" %
                 (name, shape, 3 if depthwise else 0, scales, bytes(v & 255 for v in w).hex()))
    lines.append("  const %s_b: i32[%d] = %s" % (name, outs, bias))
    quant = "q(0.0235, -128)" if act else "q(0.1, 5)"
    lines.append("  %s: i8[1,%d,%d,%d] %s = %s(%s, %s_w, %s_b) stride_h=%d stride_w=%d padding=same%s" %
                 (name, height, height, outs, quant, op, x, name, name, stride, stride, " act=relu6" if act else ""))
    x = name


h = (size + 1) // 2
layer("first", "conv_2d", h, 3, 8, 3, 2, True)
channels = 8
for i, (outs, stride) in enumerate([(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (128, 1), (128, 1),
                                    (128, 1), (128, 1), (256, 2), (256, 1)]):
    h = (h + stride - 1) // stride
    layer("dw%d" % i, "depthwise_conv_2d", h, channels, channels, 3, stride, True)
    layer("pw%d" % i, "conv_2d", h, channels, outs, 1, 1, True)
    channels = outs
lines.append("  mean: i8[1,1,1,256] q(0.0235, -128) = average_pool_2d(%s) kernel_h=%d kernel_w=%d" % (x, h, h))
x = "mean"
layer("logits", "conv_2d", 1, 256, 2, 1, 1, False)
lines.append("  flat: i8[1,2] q(0.1, 5) = reshape(logits) shape=[1, 2]")
lines.append("  y: i8[1,2] q(0.00390625, -128) = softmax(flat) beta=1")
print("graph dead {\n  input x: i8[1,%d,%d,3] q(0.0078125, -1)\n%s\n  output y\n}" % (size, size, "\n".join(lines)))
