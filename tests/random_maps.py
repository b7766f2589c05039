#!/usr/bin/env python3
"""Writes a random chain of element-wise steps, rows and residual sums in the text form, whose results may overwrite
operands. Sizes are odd, so that steps which are cut for threads have a tail.

    random_maps.py SEED OUT.ag
"""
import random
import sys

FLOATS = {
    1: "relu neg abs tanh logistic square floor exp gelu hard_swish sign erf softplus sqrt".split(),
    2: "add sub mul minimum maximum squared_difference div".split(),
    0: "softmax log_softmax l2_normalization".split(),
}
BYTES = {1: "relu tanh logistic abs neg hard_swish".split(), 2: "add sub mul minimum maximum".split(),
         0: "softmax l2_normalization".split()}
SCALES = {"softmax": "0.00390625, -128", "logistic": "0.00390625, -128", "tanh": "0.0078125, 0",
          "l2_normalization": "0.0078125, 0"} # that results must have
SAME = "relu abs neg minimum maximum".split() # operators that keep the scale of their operand


def odd_shape(r, elements):
    """Its last dimension is small, so that rows are short."""
    shape = [r.choice((3, 5, 7, 13, 17, 31, 33)) for _ in range(r.randint(1, 3))]
    rest = elements
    for d in shape[1:]:
        rest //= d
    shape[0] = max(rest, 1) | 1
    return shape


def chain(seed, elements=6000):
    r = random.Random(seed)
    shape = odd_shape(r, elements)
    text = ",".join(map(str, shape))
    floats = r.random() < 0.7
    dtype, kinds = ("f32", FLOATS) if floats else ("i8", BYTES)
    quant = lambda op: "" if floats else " q(%s)" % SCALES.get(op, "0.05, 3")
    head = ["  input %s: %s[%s]%s" % (x, dtype, text, quant("")) for x in "ab"]
    body, names, scale = [], ["a", "b"], {"a": "", "b": ""}
    for k in range(r.randint(2, 6)):
        name, last = "t%d" % k, names[-1]
        inputs = r.choice((1, 1, 2, 2, 2, 0) if len(shape) > 1 else (1, 2))
        op = r.choice(kinds[inputs])
        operands = [last]
        if inputs == 2:
            same = [x for x in names if op not in SAME or scale[x] == scale[last]]
            operands.append(r.choice(same))
            if r.random() < 0.3 and op not in SAME:
                some = ",".join(str(d if r.random() < 0.5 else 1) for d in shape)
                random_bytes = " q(0.02, -4) = random %d (-127, 127)" % k
                head.append("  const c%d: %s[%s]%s" % (k, dtype, some, " = random %d" % k if floats else random_bytes))
                operands[1] = "c%d" % k
            r.shuffle(operands)
        scale[name] = scale[last] if op in SAME else quant(op)
        body.append("  %s: %s[%s]%s = %s(%s)" % (name, dtype, text, scale[name] or quant(""), op, ", ".join(operands)))
        names.append(name)
        if floats and len(shape) == 3 and r.random() < 0.5: # a product, added to an earlier result
            head.append("  const w%d: f32[%d,1,1,%d] = random %d" % (k, shape[2], shape[2], k))
            body += ["  r%d = reshape(%s) shape=[1,%s]" % (k, name, text), "  p%d = conv_2d(r%d, w%d)" % (k, k, k),
                     "  s%d = reshape(p%d) shape=[%s]" % (k, k, text),
                     "  u%d = add(s%d, %s) act=relu" % (k, k, r.choice(names))]
            names.append("u%d" % k)
            scale["u%d" % k] = ""
    return "\n".join(["graph maps {"] + head + body + ["  output " + names[-1], "}"]) + "\n"


if __name__ == "__main__":
    with open(sys.argv[2], "w") as f:
        f.write(chain(int(sys.argv[1])))
