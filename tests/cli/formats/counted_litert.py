"""TFLite operators with results of data-dependent size, in random models, alone and with others after them, compared
with LiteRT. arenac's results are longer; the header names the output with the valid length.

    counted_litert.py ARENAC DIR BACKEND SEEDS
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from beside_litert import Model, theirs  # noqa: E402 - ends with 77 where LiteRT is missing

import counted_flow  # noqa: E402
import numpy as np  # noqa: E402

arenac, out, backend, seeds = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
path, bad, good = out / "m.tflite", [], 0


def finish(name, m, *results, bounds=None):
    """bounds: {tensor: most}"""
    global good
    m.outputs = list(results)
    want = theirs(m)
    bound = [w for k, v in (bounds or {}).items() for w in ("--bound", "t%d=%d" % (k, v))]
    path.write_bytes(m.bytes())
    args = []
    for k, v in enumerate(m.feeds.values()):
        np.save(out / ("in_%d.npy" % k), v)
        args += ["--input", "%d=%s" % (k, out / ("in_%d.npy" % k))]

    def ask(verb, model, *more):
        words = [arenac, verb, "-q", model, *(bound if model == path else []), *more]
        p = subprocess.run(words, capture_output=True, text=True)
        if p.returncode:
            bad.append("%s: %s: %s" % (name, verb, p.stderr))
        return p.stdout, p.returncode

    def results_of(model):
        for f in (out / "o").glob("*.npy"):
            f.unlink()
        _, status = ask("run", model, *args, "--output-dir", out / "o", "--backend", backend)
        return (
            None if status else [np.load(out / "o" / ("%d.npy" % i)) for i in range(len(list((out / "o").iterdir())))]
        )

    exact, header = results_of(path), ask("compile", path, "--emit", "h", "-o", "-")[0]
    # the static program, as code has it
    padded = None if ask("convert", path, out / "m.ag")[1] else results_of(out / "m.ag")
    if exact is None or padded is None:
        return
    rows = re.findall(r"_OUT(\d+)_COUNTED_DIM (\d+) .*\n#define \w+_OUT\d+_COUNTED_BY (\d+)", header)
    if not rows:
        bad.append("%s: nothing is counted" % name)
    for i, dim, by in ([int(v) for v in row] for row in rows):
        padded[i] = np.take(padded[i], np.arange(int(padded[by].ravel()[0])), axis=dim)
    for how, got in (("run", exact), ("code", padded)):
        for i, w in enumerate(want):
            if got[i].shape != w.shape or not np.allclose(got[i], w, 1e-5, 1e-5):
                told = (name, how, i, got[i].shape, got[i].ravel()[:9], w.shape, w.ravel()[:9])
                return bad.append("%s: %s: output %d is %s %s, expected %s %s" % told)
    good += 1


def number(m, v):
    return m.const(np.int32(v))


def ints(m, *v):
    return m.const(np.array(v, np.int32))


def some(rng, *dims):
    """Flags, one of them true: LiteRT gives no results without elements."""
    flags = rng.random(dims) > rng.choice([0.2, 0.5, 0.8])
    flags.flat[rng.integers(flags.size)] = True
    return flags


def floats(rng, *dims):
    return rng.standard_normal(dims).astype(np.float32)


def how_many(m, flags):
    """How many of a list of flags are true, as data: an i32 scalar."""
    x = m.op("CAST", [m.input(flags)], ["int32"], "Cast")[0]
    return m.op("SUM", [x, ints(m, 0)], ["int32"], "Reducer")[0]


def as_list(m, x):
    return m.op("RESHAPE", [x, ints(m, 1)], ["int32"])[0]


def cases(rng):
    rank = int(rng.integers(1, 4))
    dims = rng.integers(2, 6, rank)

    m = Model()
    w = m.op("WHERE", [m.input(some(rng, *dims))], ["int64"])[0]
    finish("where", m, w)

    m = Model()
    x = m.input(rng.integers(-1, 2, dims).astype(rng.choice(["int32", "int64", "float32", "int8"])))
    m2 = m.op("WHERE", [x], ["int64"])[0]
    finish("where of numbers", m, m2)

    m = Model()
    v, w = m.input(floats(rng, *dims)), m.op("WHERE", [m.input(some(rng, *dims))], ["int64"])[0]
    y = m.op("GATHER_ND", [v, w], ["float32"])[0]
    y = m.op("EXP", [m.op("NEG", [y], ["float32"])[0]], ["float32"])[0]
    finish("where, gather_nd", m, y, w, m.op("SHAPE", [y], ["int32"], "Shape", outType=2)[0])

    m = Model()  # tf.boolean_mask
    n, k = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    v, w = m.input(floats(rng, n, k)), m.op("WHERE", [m.input(some(rng, n))], ["int64"])[0]
    at = m.op("SQUEEZE", [w], ["int64"], "Squeeze", squeezeDims=[1])[0]
    y = m.op("GATHER", [v, at], ["float32"], "Gather")[0]
    total = m.op("SUM", [y, ints(m, 0)], ["float32"], "Reducer")[0]
    most = m.op("REDUCE_MAX", [m.op("RELU", [y], ["float32"])[0], ints(m, 1)], ["float32"], "Reducer")[0]
    finish("boolean_mask", m, y, total, most)

    m = Model()  # columns of the indices, and some of their rows
    w = m.op("WHERE", [m.input(some(rng, *dims))], ["int64"])[0]
    column = int(rng.integers(rank))
    one = m.op("STRIDED_SLICE", [w, ints(m, 0, column), ints(m, 0, column + 1), ints(m, 1, 1)], ["int64"],
               "StridedSlice", beginMask=1, endMask=1, shrinkAxisMask=2)[0]
    first = m.op("STRIDED_SLICE", [w, ints(m, int(rng.integers(2))), ints(m, int(rng.integers(1, 7))), ints(m, 1)],
                 ["int64"], "StridedSlice")[0]
    last = m.op("STRIDED_SLICE", [w, ints(m, -int(rng.integers(1, 4)), 0), ints(m, 0, 0), ints(m, 1, 1)], ["int64"],
                "StridedSlice", endMask=1, ellipsisMask=2)[0]
    finish("columns and rows of where", m, one, first, last)

    m = Model()
    parts = []
    for n in rng.integers(1, 7, 3):
        v, w = m.input(floats(rng, n, 2)), m.op("WHERE", [m.input(some(rng, n))], ["int64"])[0]
        parts += m.op("GATHER_ND", [v, w], ["float32"])
    parts.append(m.input(floats(rng, 2, 2)))
    finish("concatenation", m, m.op("CONCATENATION", parts, ["float32"], "Concatenation", axis=0)[0])

    m = Model()
    x = m.input(rng.integers(-3, 4, int(rng.integers(1, 30))).astype(rng.choice(["int32", "int64", "float32"])))
    kind = str(rng.choice(["int32", "int64"]))
    finish("unique", m, *m.op("UNIQUE", [x], [m.feeds[x].dtype.name, kind], "Unique",
                              idxOutType={"int32": 2, "int64": 4}[kind]))

    flags = some(rng, 12)
    m = Model()
    r = m.op("RANGE", [number(m, 0), how_many(m, flags), number(m, 1)], ["int32"])[0]
    finish("range", m, r, m.op("ADD", [r, number(m, 5)], ["int32"], "Add")[0], bounds={r: 12})

    m = Model()
    step = int(rng.choice([-2, 2, 3]))
    start = number(m, 20 if step < 0 else -20)
    r = m.op("RANGE", [start, how_many(m, flags), number(m, step)], ["int32"])[0]
    finish("range by steps", m, r, bounds={r: 40})

    m = Model()
    size = m.op("PACK", [how_many(m, flags), number(m, 3)], ["int32"], "Pack", valuesCount=2)[0]
    y = m.op("FILL", [size, m.const(np.float32(1.5))], ["float32"])[0]
    finish("fill", m, y, bounds={y: 12})

    m = Model()
    size = m.op("PACK", [how_many(m, flags), number(m, 3)], ["int32"], "Pack", valuesCount=2)[0]
    y = m.op("BROADCAST_TO", [m.input(floats(rng, 1, 3)), size], ["float32"])[0]
    finish("broadcast_to", m, y, bounds={y: 12})

    m = Model()  # as many ones as there are indices
    w = m.op("WHERE", [m.input(some(rng, 9))], ["int64"])[0]
    shape = m.op("SHAPE", [w], ["int32"], "Shape", outType=2)[0]
    n = m.op("STRIDED_SLICE", [shape, ints(m, 0), ints(m, 1), ints(m, 1)], ["int32"], "StridedSlice",
             shrinkAxisMask=1)[0]
    ones = m.op("FILL", [as_list(m, n), m.const(np.int64(7))], ["int64"])[0]
    counting = m.op("RANGE", [number(m, 0), n, number(m, 1)], ["int32"])[0]
    column = m.op("RESHAPE", [w, as_list(m, n)], ["int64"])[0]
    finish("fill and range of a count", m, m.op("ADD", [ones, column], ["int64"], "Add")[0], counting)

    m = Model()
    x, n = m.input(floats(rng, 12, 2)), how_many(m, flags)
    begin = m.op("PACK", [number(m, 0), number(m, 0)], ["int32"], "Pack", valuesCount=2)[0]
    size = m.op("PACK", [n, number(m, 2)], ["int32"], "Pack", valuesCount=2)[0]
    finish("slice to", m, m.op("SLICE", [x, begin, size], ["float32"])[0])

    m = Model()
    x, n = m.input(floats(rng, 12, 2)), how_many(m, flags)
    end = m.op("PACK", [n, number(m, 2)], ["int32"], "Pack", valuesCount=2)[0]
    to = m.op("STRIDED_SLICE", [x, ints(m, 0, 0), end, ints(m, 1, 1)], ["float32"], "StridedSlice", beginMask=3)[0]
    begun = m.op("STRIDED_SLICE", [x, end, ints(m, 12, 2), ints(m, 1, 1)], ["float32"], "StridedSlice",
                 endMask=1, shrinkAxisMask=0, beginMask=2)[0]
    finish("strided_slice to and from", m, to, begun, bounds={to: 12, begun: 12})

    m = Model()
    x = m.input(floats(rng, 2, 12))
    finish("topk_v2", m, *m.op("TOPK_V2", [x, how_many(m, flags)], ["float32", "int32"], "TopKV2"))

    for form in "45":
        m = Model()
        n = int(rng.integers(3, 12))
        corner = rng.uniform(0, 5, (n, 2))
        box = np.concatenate([corner, corner + rng.uniform(1, 4, (n, 2))], 1).astype(np.float32)
        wanted = how_many(m, some(rng, n))
        rest = [m.const(np.float32(v)) for v in ([0.4, 0.1] if form == "4" else [0.4, 0.1, rng.choice([0, 0.5])])]
        ins = [m.input(box), m.input(rng.permutation(n).astype(np.float32) / n), wanted, *rest]
        finish("nms v" + form, m, *m.op("NON_MAX_SUPPRESSION_V" + form, ins,
                                        ["int32"] + ["float32"] * (form == "5") + ["int32"],
                                        "NonMaxSuppressionV" + form))


(out / "o").mkdir(exist_ok=True)
for seed in range(seeds):
    cases(np.random.default_rng(seed))
    counted_flow.cases(np.random.default_rng(seed), Model, finish)
print("\n".join(bad))
print("%d agree, %d do not" % (good, len(bad)))
sys.exit(bool(bad) or not good)
