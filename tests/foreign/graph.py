"""A graph of another framework while a test makes it, runs it and makes it smaller: plain data, whatever the format."""
import contextlib
import dataclasses

import numpy as np

MOST, LARGEST = 6000, 1e3  # elements of a tensor, and what a float may be


@dataclasses.dataclass
class Node:
    op: str
    ins: list  # names; "": left out
    outs: list
    attrs: dict
    domain: str = ""


@dataclasses.dataclass
class Graph:
    nodes: list = dataclasses.field(default_factory=list)
    feeds: dict = dataclasses.field(default_factory=dict)  # name of an input: its values
    consts: dict = dataclasses.field(default_factory=dict)
    values: dict = dataclasses.field(default_factory=dict)  # of every tensor, by the framework, node by node
    outputs: list = dataclasses.field(default_factory=list)
    inexact: set = dataclasses.field(default_factory=set)  # tensors that another order of operations may change
    quant: dict = dataclasses.field(default_factory=dict)  # TFLite: scales, zero points, axis

    def copy(self, **changes):
        fresh = {f.name: type(getattr(self, f.name))(getattr(self, f.name)) for f in dataclasses.fields(self)}
        fresh.update(changes)
        return Graph(**fresh).swept()

    def swept(self):
        """Without what no output needs."""
        needed, kept = set(self.outputs), []
        for n in reversed(self.nodes):
            if needed & set(n.outs):
                needed |= set(n.ins) - {""}
                kept.append(n)
        self.nodes = kept[::-1]
        self.feeds = {k: v for k, v in self.feeds.items() if k in needed}
        self.consts = {k: v for k, v in self.consts.items() if k in needed}
        return self


class Maker:
    """The common part of generators of random graphs: the graph so far, and random numbers."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.g = Graph()
        self.made = 0

    def chance(self, p):
        return self.r.random() < p

    def pick(self, items):
        return items[int(self.r.integers(len(items)))]

    def int(self, lo, hi):
        return int(self.r.integers(lo, hi + 1))

    def name(self, letter):
        self.made += 1
        return "%s%d" % (letter, self.made)

    def factors(self, n, most):
        """The shape of n elements in one to most + 1 dimensions."""
        shape = []
        while n > 1 and len(shape) < most:
            shape.append(self.pick([f for f in range(1, n + 1) if n % f == 0]))
            n //= shape[-1]
        return shape + [n]

    def grow(self, families, size):
        """Builds a graph of about `size` nodes with families that each try to add nodes."""
        for _ in range(size * 3):
            if len(self.g.nodes) >= size:
                break
            with contextlib.suppress(ValueError, IndexError):  # no such node on the shapes that are there
                self.pick(families)()

    @staticmethod
    def joins(v, a):
        """A test whether an array can be concatenated with v along dimension a."""
        return lambda w: w.ndim == v.ndim and all(p == q or i == a for i, (p, q) in enumerate(zip(w.shape, v.shape)))


class NodeMaker(Maker):
    """Of graphs whose nodes the framework computes at once: probe(one) gives the results of the graph of one node.
    EXACT: operators that change no number, JUMPS: those whose result jumps where an operand hardly moves."""

    EXACT, JUMPS = (), ()

    # ---- random things

    def shape(self, rank=None):
        rank = self.pick([0, 1, 2, 3, 3, 4, 4, 4, 5]) if rank is None else rank
        return tuple(self.pick([1, 1, 2, 3, 4, 5, 7, 8, 9]) for _ in range(rank))

    def data(self, shape, dtype=np.float32):
        if dtype == np.bool_:
            return self.r.integers(0, 2, shape).astype(bool)
        if np.issubdtype(dtype, np.integer):
            lo = 0 if np.issubdtype(dtype, np.unsignedinteger) else -9
            return self.r.integers(lo, 10, shape).astype(dtype)
        v = self.r.standard_normal(shape)
        return np.asarray(np.round(v * 8) / 4 if self.chance(0.3) else v * 1.5, np.float32)

    # ---- tensors

    def input(self, v):
        k = self.name("x")
        self.g.feeds[k] = self.g.values[k] = np.asarray(v)
        return k

    def const(self, v):
        k = self.name("c")
        self.g.consts[k] = self.g.values[k] = np.asarray(v)
        return k

    def fresh(self, v):
        return self.const(v) if self.chance(0.4) else self.input(v)

    def value(self, k):
        return self.g.values[k]

    def known(self, fits):
        return [k for k, v in self.g.values.items() if fits(v)]

    def operand(self, fits, shape, dtype=np.float32, exact=False):
        """A tensor that fits: mostly a late one, seldom a new one."""
        all_ = [k for k in self.known(lambda v: v.dtype == dtype and fits(v)) if not (exact and k in self.g.inexact)]
        computed = [k for k in all_ if k not in self.g.consts] or all_
        if computed and self.chance(0.85):
            return self.pick(computed[-5:] if self.chance(0.7) else computed)
        return self.fresh(self.data(shape() if callable(shape) else shape, dtype))

    def any(self, dtype=np.float32, rank=None, exact=False, least=0):
        fits = (lambda v: v.ndim >= least) if rank is None else (lambda v: v.ndim == rank)
        return self.operand(fits, lambda: self.shape(rank if rank is not None else max(least, self.int(1, 4))), dtype,
                            exact)

    def beside(self, x, dtype=None):
        """An operand that broadcasts with x."""
        s, dtype = self.value(x).shape, self.value(x).dtype if dtype is None else dtype

        def fits(v):
            try:
                return np.prod(np.broadcast_shapes(v.shape, s), dtype=int) <= MOST
            except ValueError:
                return False

        shape = tuple(d if self.chance(0.7) else 1 for d in s[self.int(0, len(s)) if self.chance(0.3) else 0:])
        return self.operand(fits, shape, dtype)

    def axis(self, x, negative=True):
        n = self.value(x).ndim
        a = self.int(0, n - 1)
        return a - n if negative and self.chance(0.4) else a

    def node(self, op, ins, n_outs=1, exact=None, domain="", **attrs):
        """The results (n_outs: their number, or which of them are there); None: the framework has no such thing, or
        makes no finite numbers of it."""
        jumps = op in self.JUMPS
        if jumps and any(k in self.g.inexact for k in ins):
            return None
        wanted = [True] * n_outs if isinstance(n_outs, int) else n_outs
        outs = [self.name("t") if w else "" for w in wanted]
        while not outs[-1]:
            outs.pop()
        n = Node(op, list(ins), outs, attrs, domain)
        kept = [k for k in outs if k]
        values = {k: self.value(k) for k in ins if k}
        feeds = {k: v for k, v in values.items() if k not in self.g.consts}
        one = Graph([n], feeds, {k: v for k, v in values.items() if k in self.g.consts}, dict(values), kept)
        for k in kept:
            one.values[k] = np.zeros((), np.float32)
        try:
            got = self.probe(one)
        except Exception:  # whatever the framework has against it
            return None
        for v in got:
            if v.size > MOST or v.dtype == object:
                return None
            if v.dtype.kind in "iu" and np.abs(v.astype(np.float64)).max(initial=0) > 1 << 30:
                return None  # overflow is not defined
            if v.dtype.kind == "f" and not (np.isfinite(v).all() and np.abs(v).max(initial=0) < LARGEST):
                return None
        taint = any(k in self.g.inexact for k in ins)
        if exact is None:
            exact = jumps or op in self.EXACT
        for k, v in zip(kept, got):
            self.g.values[k] = v
            if v.dtype.kind == "f" and (taint or not exact):
                self.g.inexact.add(k)
        self.g.nodes.append(n)
        return kept

    def kind(self):
        return self.pick([np.float32] * 5 + [np.int32, np.int64, np.bool_])

    def choose_outputs(self):
        g = self.g
        read = {k for n in g.nodes for k in n.ins}
        made = [k for n in g.nodes for k in n.outs if k]
        g.outputs = [k for k in made if k not in read or self.chance(0.08)]
        for kind, p in ((g.outputs, 0.1), (list(g.consts), 0.15), (list(g.feeds), 0.15)):
            if kind and self.chance(p):  # a second name for an output, a constant as an output, an input as an output
                g.outputs = g.outputs + (self.identity(self.pick(kind)) or [])
        g.outputs = [str(k) for k in g.outputs]

    def identity(self, x):
        return self.node("Identity", [x], exact=True)
