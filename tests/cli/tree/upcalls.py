"""Counts the calls that run back up between the files of one folder of sources.

usage: upcalls.py BUILD [-v]

An edge (A, B) of a folder is the set of symbols that file A uses of file B, read off the symbols of the folder's
archive; a table of functions counts as well as a call. The files are put into the order with the fewest backward edges,
weighted by symbols: the greedy order of Eades, Lin and Smyth (1993), improved by moving one file at a time until
nothing is gained. The symbols on backward edges are the calls that run back up: no order of the files is without them.
Prints FOLDER COUNT for each layer() of CMakeLists.txt; -v: also who uses which symbol of whom.
"""
import collections
import pathlib
import subprocess
import sys


def edges_of(archive):
    """{(user, owner): symbols} between the objects of an archive."""
    text = subprocess.run(["nm", "-A", archive], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    owner, wanted = {}, collections.defaultdict(set)
    for line in text.splitlines():
        place, symbol = line.rsplit(":", 1)
        kind, name = symbol.split()[-2:]
        if kind == "U":
            wanted[place.split(":")[-1]].add(name)
        elif kind.isupper():
            owner[name] = place.split(":")[-1]
    edges = collections.defaultdict(set)
    for user, names in wanted.items():
        for name in names:
            if owner.get(name, user) != user:
                edges[user, owner[name]].add(name)
    return edges


def backward(edges, order):
    at = {file: i for i, file in enumerate(order)}
    return [pair for pair in edges if at[pair[0]] > at[pair[1]]]


def greedy(edges):
    left = sorted({file for pair in edges for file in pair})
    first, last = [], []
    while left:
        gain = {file: 0 for file in left}
        out = {file: 0 for file in left}
        into = {file: 0 for file in left}
        for (user, owner), names in edges.items():
            if user in gain and owner in gain:
                out[user] += len(names)
                into[owner] += len(names)
        sinks = [file for file in left if not out[file]]
        file = sinks[0] if sinks else max(left, key=lambda f: (not into[f], out[f] - into[f]))
        if sinks:
            last.insert(0, file)
        else:
            first.append(file)
        left.remove(file)
    return first + last


def best(edges):
    """The backward edges of the best order that was found."""
    def cost(order):
        return sum(len(edges[pair]) for pair in backward(edges, order))

    order = greedy(edges)
    least, gained = cost(order), True
    while gained and least:
        gained = False
        for file in list(order):
            others = [f for f in order if f != file]
            for i in range(len(order)):
                moved = others[:i] + [file] + others[i:]
                if cost(moved) < least:
                    order, least, gained = moved, cost(moved), True
    return backward(edges, order)


def main():
    build = pathlib.Path(sys.argv[1])
    for row in (build / "layers.txt").read_text().splitlines():
        layer = row.split()[0]
        archive = build / f"lib{layer}.a"
        if not archive.is_file():
            continue
        edges = edges_of(archive)
        up = best(edges)
        print(layer[3:].replace("_", "/"), sum(len(edges[pair]) for pair in up))
        if "-v" in sys.argv:
            for user, owner in sorted(up):
                print(f"    {user} uses of {owner}: {' '.join(sorted(edges[user, owner]))}")


main()
