"""Random squeeze-and-excitation blocks as separate operators, one graph of them: excites.py SEED COUNT [whole]

whole: each is between a depthwise convolution, which may expand its input, and a convolution of 1x1. Else sizes,
activations, biases and the kind of product (convolutions, or fully_connected) vary. Some gates multiply the input of a
convolution of 1x1."""
import random
import sys


def gated(lines, pick, i, name, c):
    """x times the gate y is read by a convolution; it may be too small to take the gate."""
    o = pick.choice((4, 24, 80))
    lines.append("const %s: f32[%d,1,1,%d] = random %d" % (name("p"), o, c, 90 + i))
    lines.append("%s = mul(%s)" % (name("z"), ", ".join(pick.sample([name("x"), name("y")], 2))))
    lines.append("%s = conv_2d(%s, %s)%s" % (name("q"), name("z"), name("p"), pick.choice(("", " act=relu"))))


def whole(lines, pick, i, name):
    """A depthwise convolution, its gates, and a convolution of 1x1; the name of the result."""
    c, r, o, depth = pick.choice((8, 36, 96, 160, 264)), pick.choice((1, 4, 7, 24)), pick.choice((4, 24, 90)), 16
    (h, w), k, step = pick.choice(((5, 7), (7, 7), (14, 14), (28, 23))), pick.choice((3, 5)), pick.choice((1, 1, 2))
    expands, pad = pick.random() < 0.5, k // 2
    lines.append("input %s: f32[1,%d,%d,%d]" % (name("x"), h, w, depth if expands else c))
    shapes = {"v": (c, 1, 1, depth), "w": (1, k, k, c), "b": (c,), "p": (r, 1, 1, c), "d": (r,), "q": (c, 1, 1, r),
              "f": (c,), "t": (o, 1, 1, c)}
    for n, (key, shape) in enumerate(shapes.items()):
        lines.append("const %s: f32[%s] = random %d" % (name(key), ",".join(map(str, shape)), 8 * i + n))
    if expands:
        lines.append("%s = conv_2d(%s, %s)" % (name("e"), name("x"), name("v")))
        lines.append("%s = swish(%s)" % (name("h"), name("e")))
    words = "padding=explicit stride_h=%d stride_w=%d pad_t=%d pad_b=%d pad_l=%d pad_r=%d" % ((step, step) + (pad,) * 4)
    lines.append("%s = depthwise_conv_2d(%s, %s%s) %s" % (name("y"), name("h" if expands else "x"), name("w"),
                                                          pick.choice(("", ", " + name("b"))), words))
    lines.append("%s = swish(%s)" % (name("z"), name("y")))
    lines.append("%s = mean(%s) axes=[1,2] keep_dims=true" % (name("m"), name("z")))
    act = pick.choice((" act=relu", ""))
    lines.append("%s = conv_2d(%s, %s, %s)%s" % (name("a"), name("m"), name("p"), name("d"), act))
    lines.append("%s = conv_2d(%s, %s%s)" % (name("g"), name("a"), name("q"), pick.choice(("", ", " + name("f")))))
    lines.append("%s = logistic(%s)" % (name("s"), name("g")))
    lines.append("%s = mul(%s, %s)" % (name("u"), name("z"), name("s")))
    lines.append("%s = conv_2d(%s, %s)%s" % (name("r"), name("u"), name("t"), pick.choice(("", " act=relu6"))))
    return name("r")


def main():
    pick, lines, results = random.Random(int(sys.argv[1])), [], []
    for i in range(int(sys.argv[2])):
        if sys.argv[3:]:
            results.append(whole(lines, pick, i, lambda k, i=i: "%s%d" % (k, i)))
            continue
        n, c, r = pick.choice((1, 1, 3)), pick.choice((3, 8, 20, 64, 100, 264)), pick.choice((1, 4, 7, 40))
        h, w = pick.choice(((1, 1), (3, 5), (14, 14), (40, 33)))
        o, dense, act = pick.choice((c, c, 9)), pick.random() < 0.3, pick.choice(("relu", "swish", "silu", "none"))
        one = "" if dense else "1,1,"
        name = lambda k: "%s%d" % (k, i)
        lines.append("input %s: f32[%d,%d,%d,%d]" % (name("x"), n, h, w, c))
        lines.append("const %s: f32[%d,%s%d] = random %d" % (name("w"), r, one, c, 4 * i + 1))
        lines.append("const %s: f32[%d,%s%d] = random %d" % (name("v"), o, one, r, 4 * i + 2))
        lines.append("const %s: f32[%d] = random %d" % (name("b"), r, 4 * i + 3))
        lines.append("const %s: f32[%d] = random %d" % (name("d"), o, 4 * i + 4))
        kind = "fully_connected" if dense else "conv_2d"
        keep = "" if dense else " keep_dims=true"
        lines.append("%s = mean(%s) axes=[1,2]%s" % (name("m"), name("x"), keep))
        bias = [", " + name(b) if pick.random() < 0.8 else "" for b in "bd"]
        lines.append("%s = %s(%s, %s%s)%s" % (name("a"), kind, name("m"), name("w"), bias[0],
                                              " act=relu" if act == "relu" else ""))
        h = name("a")
        if act == "swish":
            lines.append("%s = logistic(%s)" % (name("s"), h))
            lines.append("%s = mul(%s, %s)" % (name("h"), h, name("s")))
            h = name("h")
        if act == "silu":
            lines.append("%s = swish(%s)" % (name("h"), h))
            h = name("h")
        lines.append("%s = %s(%s, %s%s)" % (name("g"), kind, h, name("v"), bias[1]))
        lines.append("%s = logistic(%s)" % (name("y"), name("g")))
        results.append(name("y"))
        if not dense and o == c:
            gated(lines, pick, i, name, c)
            results[-1] = name("q")
    print("graph excites {\n  %s\n%s\n}" % ("\n  ".join(lines), "\n".join("  output " + y for y in results)))


main()
