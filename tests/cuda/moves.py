"""Random concatenations, and pools that take the largest element, one graph of them: moves.py SEED COUNT"""
import random
import sys


def concatenation(pick, i, lines):
    kind, rank = pick.choice(("f32", "f32", "i8", "i32", "bool")), pick.choice((1, 3, 4))
    axis, dims = pick.randrange(rank), [pick.choice((1, 2, 4, 8, 16, 24, 33)) for _ in range(rank)]
    names = []
    for k in range(pick.choice((2, 2, 3, 5))):
        dims[axis] = pick.choice((1, 4, 8, 16, 20))
        names.append("x%d_%d" % (i, k))
        lines.append("input %s: %s%s" % (names[-1], kind, str(dims).replace(" ", "")))
    if pick.random() < 0.2:
        names[1] = names[0]
    lines.append("y%d = concatenation(%s) axis=%d" % (i, ", ".join(names), axis))


def pool(pick, i, lines):
    height, width = pick.choice(((7, 7), (9, 14), (16, 5)))
    down = pick.choice((2, 3, 3, 5))
    across, step = pick.choice((down, down, 1)), pick.choice((1, 2, 2, 3))
    pad = min(pick.choice((0, 0, 1)), down - 1, across - 1)
    lines.append("input x%d: f32[2,%d,%d,%d]" % (i, height, width, pick.choice((3, 4, 8, 20))))
    lines.append("y%d = max_pool_2d(x%d) kernel_h=%d kernel_w=%d stride_h=%d stride_w=%d padding=explicit pad_t=%d "
                 "pad_b=%d pad_l=%d pad_r=%d%s" % (i, i, down, across, step, step, pad, pad, pad, pad,
                                                   pick.choice(("", " act=relu", " keep_nan=true"))))


def main():
    pick, lines, n = random.Random(int(sys.argv[1])), [], int(sys.argv[2])
    for i in range(n):
        pick.choice((concatenation, pool))(pick, i, lines)
    print("graph moves {\n  %s\n%s\n}" % ("\n  ".join(lines), "\n".join("  output y%d" % i for i in range(n))))


main()
