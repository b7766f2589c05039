"""Random depthwise convolutions of floats, one graph of them: depthwises.py SEED COUNT [expanded]

Sizes, filters, steps, dilations, paddings, biases, activations and a swish after it vary. expanded: the input of each
is a convolution of 1x1 with an activation of some form."""
import random
import sys


def expand(lines, pick, i, images, height, width, channels):
    """The lines of a convolution of 1x1 and an activation; the name of the result."""
    depth = pick.choice((4, 8, 16, 20, 24, 64, 6))
    lines.append("input x%d: f32[%d,%d,%d,%d]" % (i, images, height, width, depth))
    lines.append("const v%d: f32[%d,1,1,%d] = random %d" % (i, channels, depth, 100 + i))
    lines.append("const a%d: f32[%d] = random %d" % (i, channels, 200 + i))
    form = pick.choice(("plain", "act", "swish", "clamp"))
    lines.append("e%d = conv_2d(x%d, v%d%s)%s" % (i, i, i, pick.choice((", a%d" % i, "")),
                                                 pick.choice((" act=relu", " act=relu6")) if form == "act" else ""))
    if form == "swish":
        lines.append("g%d = logistic(e%d)" % (i, i))
        lines.append("h%d = mul(e%d, g%d)" % (i, i, i))
    if form == "clamp":
        lines.append("const l%d: f32[1] = [-0.25]" % i)
        lines.append("const m%d: f32[1] = [0.5]" % i)
        lines.append("o%d = maximum(e%d, l%d) keep_nan=true" % (i, i, i))
        lines.append("h%d = minimum(m%d, o%d) keep_nan=true" % (i, i, i))
    return ("h%d" if form in ("swish", "clamp") else "e%d") % i


def main():
    pick, lines, results = random.Random(int(sys.argv[1])), [], []
    while len(results) < int(sys.argv[2]):
        i, channels = len(results), pick.choice((4, 8, 12, 20, 36, 96, 30))
        images, height, width = pick.choice((1, 1, 2)), pick.choice((5, 7, 14, 19)), pick.choice((5, 7, 14, 23))
        taps = pick.choice((3, 3, 5))
        across, step, dilation = pick.choice((taps, taps, 1)), pick.choice((1, 1, 2)), pick.choice((1, 1, 1, 2))
        pad = pick.choice((0, 1, taps // 2 * dilation))
        if (taps - 1) * dilation >= height + 2 * pad or (across - 1) * dilation >= width + 2 * pad:
            continue
        x = "x%d" % i
        if sys.argv[3:]:
            x = expand(lines, pick, i, images, height, width, channels)
        else:
            lines.append("input x%d: f32[%d,%d,%d,%d]" % (i, images, height, width, channels))
        lines.append("const w%d: f32[1,%d,%d,%d] = random %d" % (i, taps, across, channels, 2 * i + 1))
        lines.append("const b%d: f32[%d] = random %d" % (i, channels, 2 * i + 2))
        words = "stride_h=%d stride_w=%d dilation_h=%d dilation_w=%d" % (step, step, dilation, dilation)
        words += " padding=explicit pad_t=%d pad_b=%d pad_l=%d pad_r=%d" % (pad, pad, pad, pad)
        words += " act=relu6" if pick.random() < 0.4 else ""
        bias = ", b%d" % i if pick.random() < 0.7 else ""
        lines.append("y%d = depthwise_conv_2d(%s, w%d%s) %s" % (i, x, i, bias, words))
        results.append("y%d" % i)
        if pick.random() < 0.4:
            lines.append("s%d = logistic(y%d)" % (i, i))
            lines.append("z%d = mul(y%d, s%d)" % (i, i, i))
            results[-1] = "z%d" % i
    print("graph depthwises {\n  %s\n%s\n}" % ("\n  ".join(lines), "\n".join("  output " + y for y in results)))


main()
