"""Random attentions as separate operators, one graph of them: attentions.py SEED COUNT

Shapes, layouts, masks (numbers, bools, rows that see nothing), grouped heads and keys of a past vary; some are of
16-bit floats, which are rounded after each operator."""
import random
import sys


def dims(*d):
    return "[" + ",".join(map(str, d)) + "]"


class Writer:
    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.lines, self.results, self.n = [], [], 0
        self.half, self.numbers = False, set()

    def name(self):
        self.n += 1
        return "t%d" % self.n

    def input(self, *shape):
        name = self.name()
        self.lines.append("input %s: %s%s" % (name, "f16" if self.half else "f32", dims(*shape)))
        return name

    def math(self, kind, *operands, **attrs):
        """An operator on floats; 16-bit ones are converted, and its result is rounded."""
        y = self.op(kind, *map(self.wide, operands), **attrs)
        if not self.half or kind == "less_equal":
            return y
        return self.op("cast", y, to="f16")

    def wide(self, x):
        return self.op("cast", x) if self.half and x not in self.numbers else x

    def softmax(self, x):
        if not self.half:
            return self.op("softmax", x)
        x = self.wide(x)
        most = self.op("reduce_max", x, axes="[-1]", keep_dims="true", keep_nan="true")
        less = self.op("cast", self.op("sub", x, most), to="f16")
        e = self.wide(self.math("exp", less))
        total = self.op("cast", self.op("sum", e, axes="[-1]", keep_dims="true"), to="f16")
        return self.op("cast", self.op("div", e, self.wide(total)), to="f16")

    def op(self, kind, *operands, shape=None, **attrs):
        name = self.name()
        if shape:
            self.lines.append("const %s_s: i32[%d] = %s" % (name, len(shape), dims(*shape)))
            operands += (name + "_s",)
        words = "".join(" %s=%s" % (k, v) for k, v in attrs.items())
        self.lines.append("%s = %s(%s)%s" % (name, kind, ", ".join(operands), words))
        return name

    def number(self, value):
        name = self.name()
        self.lines.append("const %s: f32[] = [%s]" % (name, value))
        self.numbers.add(name)
        return name

    def rows(self, *shape, constant=True):
        """A mask: constants of 0 or far below it, or given."""
        count = 1
        for d in shape:
            count *= d
        if constant:
            name = self.name()
            values = [self.pick.choice(["0", "0", "-1e9", "-inf"]) for _ in range(count)]
            self.lines.append("const %s: f32%s = [%s]" % (name, dims(*shape), ", ".join(values)))
            self.numbers.add(name)
            return name
        return self.input(*shape)


def heads(w, x, batch, rows, count, width, merged, at):
    """x [batch, rows, count * width], or part `at` of a merged product -> [batch, count, rows, width]"""
    if merged:
        x = w.op("slice", x, begin=dims(0, 0, at), size=dims(batch, rows, count * width))
    x = w.op("reshape", x, shape=(batch, rows, count, width))
    return w.op("transpose", x, perm="[0,2,1,3]")


def attention(w):
    pick = w.pick.choice
    w.half = pick([False, False, True])
    batch, groups, shared = pick([1, 1, 2]), pick([1, 2, 3]), pick([1, 1, 2, 3])
    count, rows = groups * shared, pick([1, 3, 8, 9, 20])
    depth, width, past = pick([1, 4, 7, 16, 33, 64, 80]), pick([4, 6, 16, 40, 64]), pick([0, 0, 5, 60])
    keys = past + (rows if past else pick([rows, 1, 30, 65, 130]))
    kept = keys - past
    merged = kept == rows and pick([True, False])
    if merged:
        x = w.input(batch, rows, count * depth + groups * (depth + width))
        q, k, v = x, x, x
    else:
        q = w.input(batch, rows, count * depth)
        k, v = w.input(batch, kept, groups * depth), w.input(batch, kept, groups * width)
    q = heads(w, q, batch, rows, count, depth, merged, 0)
    k = heads(w, k, batch, kept, groups, depth, merged, count * depth)
    v = heads(w, v, batch, kept, groups, width, merged, count * depth + groups * depth)
    if past:
        k = w.op("concatenation", w.input(batch, groups, past, depth), k, axis=2)
        v = w.op("concatenation", w.input(batch, groups, past, width), v, axis=2)
    if shared > 1:
        q = w.op("reshape", q, shape=(batch, groups, shared, rows, depth))
        k = w.op("reshape", k, shape=(batch, groups, 1, keys, depth))
        v = w.op("reshape", v, shape=(batch, groups, 1, keys, width))
    if pick([True, False]):
        s = w.math("batch_matmul", q, k, adj_y="true")
    else:
        lead = [0, 1, 2][: 2 + (shared > 1)]
        n = len(lead)
        s = w.math("batch_matmul", q, w.op("transpose", k, perm=dims(*lead, n + 1, n)))
    if pick([True, True, False]):
        s = w.math("mul", s, w.number("0.25"))
    s = w.op("reshape", s, shape=(batch, count, rows, keys)) if shared > 1 else s
    mask = pick(["", "", "numbers", "given", "bools", "hides"])
    shape = pick([(rows, keys), (1, 1, 1, keys), (batch, 1, rows, keys), (batch, count, rows, keys)])
    if mask in ("numbers", "given"):
        s = w.math("add", s, w.rows(*shape, constant=mask == "numbers"))
    elif mask:
        sees = w.math("less_equal", w.rows(*shape, constant=False), w.number("0.3"))
        low, s = w.number("-1e9"), w.wide(s)
        s = w.op("select", sees, s, low) if mask == "bools" else w.op("select", sees, low, s)
        s = w.op("cast", s, to="f16") if w.half else s
    p = w.softmax(s)
    p = w.op("reshape", p, shape=(batch, groups, shared, rows, keys)) if shared > 1 else p
    y = w.math("batch_matmul", p, v)
    y = w.op("reshape", y, shape=(batch, count, rows, width)) if shared > 1 else y
    if pick([True, True, False]):
        y = w.op("transpose", y, perm="[0,2,1,3]")
        y = w.op("reshape", y, shape=(batch, rows, count * width))
    if pick([True, False]):
        y = w.math("relu", y)
    w.results.append(y)


def main():
    seed, count = map(int, sys.argv[1:])
    w = Writer(seed)
    for _ in range(count):
        attention(w)
    print("graph attentions {\n  %s\n  output %s\n}" % ("\n  ".join(w.lines), ", ".join(w.results)))


if __name__ == "__main__":
    main()
