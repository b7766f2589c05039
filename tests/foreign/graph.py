"""A graph of another framework while a test makes it, runs it and makes it smaller: plain data, whatever the format."""
import dataclasses

import numpy as np


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
    """What makers of random graphs have in common: the graph so far, and chance."""

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
