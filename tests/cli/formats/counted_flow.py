"""Models with data-dependent sizes before, next to, after and inside of IF, WHILE and composites. counted_litert.py
compares them with LiteRT."""
import numpy as np


def ints(m, *v):
    return m.const(np.array(v, np.int32))


def number(m, v):
    return m.const(np.int32(v))


def floats(rng, *dims):
    """Some are above 0 and some below: LiteRT gives no results without elements."""
    x = rng.standard_normal(dims).astype(np.float32)
    x.flat[0], x.flat[-1] = 1, -1
    return x


def compare(m, how, x, limit=0.0):
    return m.op(how, [x, m.const(np.float32(limit))], ["bool"], how.capitalize())[0]


def those(m, x, how="GREATER", limit=0.0):
    """tf.boolean_mask of elements above (below) a limit: [count]."""
    return m.op("GATHER_ND", [x, m.op("WHERE", [compare(m, how, x, limit)], ["int64"])[0]], ["float32"])[0]


def total(m, x):
    return m.op("SUM", [x, ints(m, 0)], ["float32"], "Reducer")[0]


def size_of(m, x):
    shape = m.op("SHAPE", [x], ["int32"], "Shape", outType=2)[0]
    return m.op("REDUCE_PROD", [shape, ints(m, 0)], ["int32"], "Reducer")[0]


def choose(m, cond, args, values, then, otherwise, kinds):
    """IF of two functions of a graph and its inputs, which are like `values`."""
    at = [graph(m, values, f) for f in (then, otherwise)]
    return m.op("IF", [cond, *args], kinds, "If", thenSubgraphIndex=at[0], elseSubgraphIndex=at[1])


def graph(m, values, f):
    """The number of a further graph, whose results are f(graph, inputs)."""
    main = getattr(m, "main", m)
    g = main.subgraph()
    g.main, at = main, len(main.subgraphs)
    g.outputs = list(f(g, *[g.input(v) for v in values]))
    return at


def composite(m, args, at, kinds):
    return m.op("STABLEHLO_COMPOSITE", args, kinds, "StableHLOComposite", name="a.part", decompositionSubgraphIndex=at,
                version=1, compositeAttributes=list(b"\0\0\1\0\0$\1"))


def loop(m, args, values, cond, body, kinds):
    at = [graph(m, values, f) for f in (cond, body)]
    return m.op("WHILE", args, kinds, "While", condSubgraphIndex=at[0], bodySubgraphIndex=at[1])


def branches(rng, Model, finish):
    n = int(rng.integers(4, 12))
    v, yes = floats(rng, n), np.array(rng.random() < 0.5)

    m = Model()
    x, c = m.input(v), m.input(yes)
    few = those(m, x)
    y = choose(m, c, [x], [v], lambda g, a: g.op("EXP", [a], ["float32"]),
               lambda g, a: g.op("NEG", [a], ["float32"]), ["float32"])[0]
    finish("where beside and after if", m, few, y, those(m, y, limit=-5.0))

    m = Model()
    x, c = m.input(v), m.input(yes)
    finish("if of a masked list", m, *choose(
        m, c, [those(m, x)], [v], lambda g, a: g.op("EXP", [a], ["float32"]),
        lambda g, a: g.op("NEG", [a], ["float32"]), ["float32"]))

    m = Model()
    x, c = m.input(v), m.input(yes)
    y = choose(m, c, [x], [v], lambda g, a: [those(g, a)], lambda g, a: [those(g, a, "LESS")], ["float32"])[0]
    finish("if of two masks", m, y, total(m, y))

    m = Model()
    x, c = m.input(v), m.input(yes)
    finish("if of a mask and all", m, *choose(m, c, [x], [v], lambda g, a: [those(g, a)],
                                              lambda g, a: g.op("EXP", [a], ["float32"]), ["float32"]))

    m = Model()  # concatenations that are counted alike, in two graphs
    x, c = m.input(v), m.input(yes)
    few, more = those(m, x), those(m, x, "LESS")

    def joined(g, a, b, op):
        return g.op(op, g.op("CONCATENATION", [a, b], ["float32"], "Concatenation", axis=0), ["float32"])

    finish("if of concatenations", m, *choose(m, c, [few, more], [v, v], lambda g, a, b: joined(g, a, b, "EXP"),
                                              lambda g, a, b: joined(g, a, b, "NEG"), ["float32"]))

    m = Model()  # as many as a mask says decide
    x = m.input(v)
    few = those(m, x)
    c = m.op("GREATER", [size_of(m, few), number(m, n // 2)], ["bool"], "Greater")[0]
    y = choose(m, c, [few], [v], lambda g, a: [total(g, a)],
               lambda g, a: g.op("REDUCE_MAX", [a, ints(g, 0)], ["float32"], "Reducer"), ["float32"])[0]
    finish("if by a count", m, y, few)


def composites(rng, Model, finish):
    n = int(rng.integers(4, 12))
    v, w = floats(rng, n), floats(rng, n)

    m = Model()
    x, y = m.input(v), m.input(w)
    at = graph(m, [v], lambda g, a: [those(g, a), size_of(g, those(g, a, "LESS"))])
    finish("composite of masks, twice", m, *composite(m, [x], at, ["float32", "int32"]),
           *composite(m, [y], at, ["float32", "int32"]))

    m = Model()
    k = rng.integers(0, 4, n).astype(np.int32)
    at = graph(m, [k], lambda g, a: g.op("UNIQUE", [a], ["int32", "int32"], "Unique", idxOutType=2))
    finish("composite of unique", m, *composite(m, [m.input(k)], at, ["int32", "int32"]))

    def first(g, a, count):
        end = g.op("RESHAPE", [count, ints(g, 1)], ["int32"])[0]
        return g.op("SLICE", [a, ints(g, 0), end], ["float32"])

    m = Model()
    x = m.input(v)
    at = graph(m, [v, np.int32(0)], first)
    finish("composite of a slice", m, *composite(m, [x, size_of(m, those(m, x))], at, ["float32"]),
           *composite(m, [x, number(m, 2)], at, ["float32"]))


def loops(rng, Model, finish):
    n = int(rng.integers(4, 12))
    v, zero = floats(rng, n), np.float32(0)

    def add_masked(g, i, s, a):
        more = g.op("MUL", [total(g, those(g, a)), g.const(np.float32(0.5))], ["float32"], "Mul")[0]
        return [g.op("ADD", [i, number(g, 1)], ["int32"], "Add")[0],
                g.op("ADD", [s, more], ["float32"], "Add")[0], a]

    m = Model()
    x = m.input(v)
    _, y, _ = loop(m, [number(m, 0), m.const(zero), x], [np.int32(0), zero, v],
                   lambda g, i, s, a: [compare(g, "LESS", s, 3.0)], add_masked, ["int32", "float32", "float32"])
    finish("masks in a loop", m, y, those(m, x))

    m = Model()
    x = m.input(v)
    _, y, _ = loop(m, [number(m, 0), m.const(zero), x], [np.int32(0), zero, v],
                   lambda g, i, s, a: g.op("LESS", [i, number(g, 3)], ["bool"], "Less"), add_masked,
                   ["int32", "float32", "float32"])
    finish("masks in three iterations", m, y, those(m, x))

    def add_one(g, i, s, a):
        at = g.op("RESHAPE", [i, ints(g, 1)], ["int32"])[0]
        one = g.op("SLICE", [a, at, ints(g, 1)], ["float32"])[0]
        return [g.op("ADD", [i, number(g, 1)], ["int32"], "Add")[0],
                g.op("ADD", [s, total(g, one)], ["float32"], "Add")[0], a]

    m = Model()  # as many iterations as a mask has elements, each of one
    few = those(m, m.input(v))
    _, y, _ = loop(m, [number(m, 0), m.const(zero), few], [np.int32(0), zero, v],
                   lambda g, i, s, a: g.op("LESS", [i, size_of(g, a)], ["bool"], "Less"), add_one,
                   ["int32", "float32", "float32"])
    finish("a loop over what a mask leaves", m, y, few)


def carried(rng, Model, finish):
    n = int(rng.integers(4, 12))
    v = floats(rng, n)

    def again(g, i, a):
        few = g.op("LESS", [i, number(g, 9)], ["bool"], "Less")[0]
        return g.op("LOGICAL_AND", [few, compare(g, "LESS", total(g, a), 9.0)], ["bool"])

    def next_of(g, i, a):
        return [g.op("ADD", [i, number(g, 1)], ["int32"], "Add")[0], a]

    m = Model()
    few = those(m, m.input(v))
    finish("a loop that carries some", m, *loop(
        m, [number(m, 0), few], [np.int32(0), v], again,
        lambda g, i, a: next_of(g, i, g.op("MUL", [a, g.const(np.float32(1.5))], ["float32"], "Mul")[0]),
        ["int32", "float32"])[1:], few)

    m = Model()  # fewer and fewer, of all at first
    x = m.input(v)
    i, y = loop(m, [number(m, 0), x], [np.int32(0), v],
                lambda g, i, a: g.op("LESS", [i, size_of(g, a)], ["bool"], "Less"),
                lambda g, i, a: next_of(g, i, those(g, g.op("SUB", [a, g.const(np.float32(0.2))], ["float32"],
                                                            "Sub")[0], limit=-0.3)), ["int32", "float32"])
    finish("a loop that filters", m, y, i)


def grown(rng, Model, finish):
    """Loops whose values become longer, and arrays whose elements are set, as the converter writes them."""
    n = int(rng.integers(4, 12))
    v = floats(rng, n)

    def plus_one(g, i):
        return g.op("ADD", [i, number(g, 1)], ["int32"], "Add")[0]

    def as_list(g, i):
        return g.op("RESHAPE", [i, ints(g, 1)], ["int32"])[0]

    def joined(g, *x):
        return g.op("CONCATENATION", list(x), ["float32"], "Concatenation", axis=0)[0]

    def below(g, i, a, most):
        few = g.op("LESS", [i, number(g, most)], ["bool"], "Less")[0]
        return g.op("LOGICAL_AND", [few, compare(g, "LESS", total(g, a), 20.0)], ["bool"])

    def next_sum(g, i, a):
        one = g.op("MUL", [g.op("REDUCE_MAX", [a, ints(g, 0)], ["float32"], "Reducer", keepDims=True)[0],
                           g.const(np.float32(1.2))], ["float32"], "Mul")[0]
        return [plus_one(g, i), joined(g, a, one)]

    m = Model()
    x = m.input(v)
    _, y = loop(m, [number(m, 0), x], [np.int32(0), v], lambda g, i, a: below(g, i, a, 7), next_sum,
                ["int32", "float32"])
    finish("a loop that appends, seven times at most", m, y, those(m, x))

    def next_pad(g, i, a):
        pads = g.const(np.array([[0, 1]], np.int32))
        y = g.op("PADV2", [a, pads, g.const(np.float32(0.5))], ["float32"])[0]
        return [plus_one(g, i), y]

    m = Model()
    few = those(m, m.input(v))
    i, y = loop(m, [number(m, 0), few], [np.int32(0), v], lambda g, i, a: [compare(g, "LESS", total(g, a), 5.0)],
                next_pad, ["int32", "float32"])
    finish("a loop that pads", m, y, i, bounds={y: 40})

    def set_one(g, i, a, x):
        head = g.op("SLICE", [a, ints(g, 0), as_list(g, i)], ["float32"])[0]
        tail = g.op("SLICE", [a, as_list(g, plus_one(g, i)), ints(g, -1)], ["float32"])[0]
        one = g.op("GATHER", [x, as_list(g, i)], ["float32"], "Gather")[0]
        return [plus_one(g, i), joined(g, head, g.op("EXP", [one], ["float32"])[0], tail), x]

    m = Model()  # tf.map_fn of a mask
    few = those(m, m.input(v))
    size = size_of(m, few)
    array = m.op("FILL", [as_list(m, size), m.const(np.float32(0))], ["float32"])[0]
    _, y, _ = loop(m, [number(m, 0), array, few], [np.int32(0), v, v],
                   lambda g, i, a, x: g.op("LESS", [i, size_of(g, x)], ["bool"], "Less"), set_one,
                   ["int32", "float32", "float32"])
    finish("an array of as many as pass", m, y, m.op("ADD", [y, few], ["float32"], "Add")[0])

    m = Model()
    x = m.input(v)
    _, y, _ = loop(m, [number(m, 0), m.const(np.zeros(n, np.float32)), x], [np.int32(0), v, v],
                   lambda g, i, a, x: g.op("LOGICAL_AND", [
                       g.op("LESS", [i, number(g, n)], ["bool"], "Less")[0],
                       compare(g, "LESS", total(g, a), 3.0)], ["bool"]), set_one, ["int32", "float32", "float32"])
    finish("an array that is filled until it is enough", m, y, those(m, x))

    def add_padded(g, i, a, x):
        rest = g.op("SUB", [number(g, n - 1), i], ["int32"], "Sub")[0]
        pads = g.op("RESHAPE", [g.op("PACK", [i, rest], ["int32"], "Pack", valuesCount=2)[0], ints(g, 1, 2)],
                    ["int32"])[0]
        one = g.op("GATHER", [x, as_list(g, i)], ["float32"], "Gather")[0]
        return [plus_one(g, i), g.op("ADD", [a, g.op("PAD", [one, pads], ["float32"])[0]], ["float32"], "Add")[0], x]

    m = Model()
    x = m.input(v)
    _, y, _ = loop(m, [number(m, 0), m.const(np.zeros(n, np.float32)), x], [np.int32(0), v, v],
                   lambda g, i, a, x: g.op("LOGICAL_AND", [
                       g.op("LESS", [i, number(g, n)], ["bool"], "Less")[0],
                       compare(g, "LESS", total(g, a), 3.0)], ["bool"]), add_padded, ["int32", "float32", "float32"])
    finish("pads of a number of the iteration", m, y, those(m, x))

    m = Model()
    few = those(m, m.input(v))
    times = m.op("PACK", [m.input(np.array(rng.integers(1, 4), np.int32))], ["int32"], "Pack", valuesCount=1)[0]
    whole = m.input(floats(rng, 3))
    y = m.op("TILE", [whole, times], ["float32"])[0]
    missing = m.op("SUB", [number(m, n), size_of(m, few)], ["int32"], "Sub")[0]
    pads = m.op("RESHAPE", [m.op("PACK", [number(m, 0), missing], ["int32"], "Pack", valuesCount=2)[0], ints(m, 1, 2)],
                ["int32"])[0]
    finish("tiles and pads", m, y, m.op("TILE", [few, ints(m, 2)], ["float32"])[0],
           m.op("PAD", [few, m.const(np.array([[1, 2]], np.int32))], ["float32"])[0],
           m.op("PAD", [few, pads], ["float32"])[0], bounds={y: 9})


def along(rng, Model, finish):
    n = int(rng.integers(4, 12))
    v = floats(rng, n)
    v[1] = 2

    m = Model()
    few = those(m, m.input(v))
    finish("means, softmaxes, sums so far", m, m.op("SOFTMAX", [few], ["float32"], "Softmax", beta=1.0)[0],
           m.op("MEAN", [few, ints(m, 0)], ["float32"], "Reducer")[0],
           m.op("ARG_MAX", [few, number(m, 0)], ["int64"], "ArgMax", outputType=4)[0],
           m.op("CUMSUM", [few, number(m, 0)], ["float32"], "Cumsum")[0])

    m = Model()
    k = rng.integers(0, 5, n).astype(np.int32)
    k[:2] = 1, 2
    ids = m.input(k)
    w = m.op("WHERE", m.op("GREATER", [ids, number(m, 0)], ["bool"], "Greater"), ["int64"])[0]
    ids = m.op("GATHER_ND", [ids, w], ["int32"])[0]
    part = m.op("GATHER_ND", [m.input(floats(rng, n, 2)), w], ["float32"])[0]
    hot = m.op("ONE_HOT", [ids, number(m, 5), m.const(np.float32(1)), m.const(np.float32(0))], ["float32"], "OneHot",
               axis=-1)[0]
    finish("ids of some", m, hot, m.op("REVERSE_V2", [ids, ints(m, 0)], ["int32"])[0],
           *m.op("UNIQUE", [ids], ["int32", "int32"], "Unique", idxOutType=2),
           m.op("UNSORTED_SEGMENT_SUM", [part, ids, number(m, 5)], ["float32"])[0],
           m.op("BATCH_MATMUL", [m.input(floats(rng, 3, 2)), part], ["float32"], "BatchMatMul", adjY=True)[0],
           m.op("BATCH_MATMUL", [hot, part], ["float32"], "BatchMatMul", adjX=True)[0])

    def cut(m, x, begin, end, **masks):
        return m.op("STRIDED_SLICE", [x, ints(m, begin), ints(m, end), ints(m, 1)], ["float32"], "StridedSlice",
                    **masks)[0]

    m = Model()
    few = those(m, m.input(v))
    finish("steps", m, m.op("SUB", [cut(m, few, 1, 0, endMask=1), cut(m, few, 0, -1, beginMask=1)], ["float32"],
                            "Sub")[0], few)

    m = Model()
    x = m.input(v)
    w = m.op("CAST", m.op("WHERE", [compare(m, "GREATER", x)], ["int64"]), ["int32"], "Cast")[0]
    here = size_of(m, w)
    spread = m.op("SCATTER_ND", [w, m.op("GATHER_ND", [x, w], ["float32"])[0], ints(m, n)],
                  ["float32"])[0]
    most = m.op("MINIMUM", [here, number(m, 3)], ["int32"])[0]
    finish("scattered, and a range of at most 3", m, spread,
           m.op("RANGE", [number(m, 0), most, number(m, 1)], ["int32"])[0])


def cases(rng, Model, finish):
    for family in (branches, composites, loops, carried, grown, along):
        family(rng, Model, finish)
