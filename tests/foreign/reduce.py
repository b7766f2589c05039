"""Makes a graph that shows a fault smaller, until nothing more can go: fewer outputs, values of the framework instead
of the nodes that make them, fewer nodes between."""


def fewer_outputs(g):
    for k in g.outputs:
        if len(g.outputs) > 1:
            yield g.copy(outputs=[k])
    for n in g.nodes[::-1]:
        for k in n.outs:
            if k and k not in g.outputs and len(g.outputs) == 1 and k in g.values:
                yield g.copy(outputs=[k])


def given(g):
    """A result becomes an input with the value that it has."""
    inner = [k for n in g.nodes for k in n.outs if k and k not in g.outputs]
    for k in inner[::-1]:
        if not shared(g, k):
            yield g.copy(nodes=[n for n in g.nodes if k not in n.outs], feeds={**g.feeds, k: g.values[k]})


def shared(g, k):
    """Is k one of several results of a node that others of are needed?"""
    n = next(n for n in g.nodes if k in n.outs)
    read = {i for m in g.nodes for i in m.ins} | set(g.outputs)
    return sum(o in read for o in n.outs) > 1


def without(g):
    """A node is left out: its readers read its operand."""
    for n in g.nodes:
        for k in n.ins:
            v = g.values.get(k)
            o = n.outs[0]
            if v is None or k in g.consts or len(n.outs) != 1 or o in g.outputs:
                continue
            if v.shape == g.values[o].shape and v.dtype == g.values[o].dtype:
                nodes = [type(m)(m.op, [k if i == o else i for i in m.ins], m.outs, m.attrs, m.domain)
                         for m in g.nodes if m is not n]
                yield g.copy(nodes=nodes)


def smaller(g, fails, seconds, clock):
    """The smallest graph found that still satisfies fails(graph)."""
    end, changed = clock() + seconds, True
    while changed and clock() < end:
        changed = False
        for step in (fewer_outputs, given, without):
            tried = True
            while tried and clock() < end:
                tried = False
                for h in step(g):
                    if len(h.nodes) < len(g.nodes) or len(h.outputs) < len(g.outputs):
                        if fails(h):
                            g, changed, tried = h, True, True
                            break
                    if clock() > end:
                        break
    return g
