"""Random ONNX TreeEnsembles: writes them (bytes of protobuf), walks them in Python, compares.

    trees.py ARENAC DIR BACKEND SEEDS
"""
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "models"))
from wire import data as sub, number as num

arenac, out, backend, seeds = sys.argv[1:]


ints = lambda name, v: sub(5, sub(1, name) + b"".join(num(8, int(x)) for x in v) + num(20, 7))
one = lambda name, v: sub(5, sub(1, name) + num(3, v) + num(20, 2))
value = lambda name, dims: sub(1, name) + sub(2, sub(1, num(1, 1) + sub(2, b"".join(sub(1, num(1, d)) for d in dims))))


def tensor(name, v):
    v = np.asarray(v)
    t = num(1, v.size) + num(2, 2 if v.dtype == np.uint8 else 1) + sub(9, v.tobytes())
    return sub(5, sub(1, name) + sub(5, t) + num(20, 4))


def grow(r, e, depth, modes, top=False):
    """A subtree: its number and whether it is a leaf."""
    if depth == 0 or (not top and r.random() < 0.3):
        e["target"].append(r.integers(e["targets"]))
        e["weight"].append(np.float32(r.standard_normal()))
        return len(e["target"]) - 1, 1
    i = len(e["feature"])
    e["feature"].append(r.integers(e["features"]))
    e["mode"].append(r.choice(modes))
    e["split"].append(np.float32(r.integers(-2, 3)))
    e["track"].append(r.integers(2) if e["missing"] else 0)
    e["yes"].append(None)
    e["no"].append(None)
    e["set"].append(sorted(set(r.integers(-2, 3, r.integers(4)).tolist())))
    e["yes"][i] = grow(r, e, depth - 1, modes)
    e["no"][i] = grow(r, e, depth - 1, modes)
    return i, 0


def holds(e, i, v):
    m, s = e["mode"][i], e["split"][i]
    if np.isnan(v) and e["track"][i]:
        return True
    return [v <= s, v < s, v >= s, v > s, v == s, v != s, v in e["set"][i]][m]


def evaluate(e, x):
    y = np.zeros((len(x), e["targets"]), np.float64)
    for row, v in enumerate(x):
        got = [[] for _ in range(e["targets"])]
        for root in e["roots"]:
            at, leaf = root, 0
            while not leaf:
                at, leaf = (e["yes"] if holds(e, at, v[e["feature"][at]]) else e["no"])[at]
            got[e["target"][at]].append(float(e["weight"][at]))
        for t, w in enumerate(got):
            how = e["how"]
            y[row, t] = sum(w) / (len(e["roots"]) if how == 0 else 1) if how < 2 else (min, max)[how - 2](w) if w else 0
    return y


for seed in range(int(seeds)):
    r = np.random.default_rng(seed)
    e = dict(feature=[], mode=[], split=[], yes=[], no=[], target=[], weight=[], track=[], set=[], roots=[], features=3,
             targets=int(r.integers(1, 4)), how=seed % 4, missing=seed % 3 == 2)
    modes = [[0], [6], list(range(7)), [1, 4, 6]][int(r.integers(4))]
    for _ in range(int(r.integers(1, 6))):
        e["roots"].append(grow(r, e, int(r.integers(1, 6)), modes, True))
    e["roots"] = [i for i, _ in e["roots"]]
    members = [m for i, s in enumerate(e["set"]) if e["mode"][i] == 6 for m in s + [np.nan]]
    attrs = (ints("nodes_featureids", e["feature"]) + ints("nodes_truenodeids", [i for i, _ in e["yes"]]) +
             ints("nodes_falsenodeids", [i for i, _ in e["no"]]) + ints("nodes_trueleafs", [l for _, l in e["yes"]]) +
             ints("nodes_falseleafs", [l for _, l in e["no"]]) + ints("tree_roots", e["roots"]) +
             ints("leaf_targetids", e["target"]) + tensor("nodes_modes", np.array(e["mode"], np.uint8)) +
             tensor("nodes_splits", np.array(e["split"], np.float32)) +
             tensor("leaf_weights", np.array(e["weight"], np.float32)) + one("n_targets", e["targets"]) +
             one("aggregate_function", e["how"]))
    if members:
        attrs += tensor("membership_values", np.array(members, np.float32))
    if e["missing"]:
        attrs += ints("nodes_missing_value_tracks_true", e["track"])
    node = sub(1, "x") + sub(2, "y") + sub(3, "trees") + sub(4, "TreeEnsemble") + attrs + sub(7, "ai.onnx.ml")
    graph = sub(1, node) + sub(2, "g") + sub(11, value("x", [9, 3])) + sub(12, value("y", [9, e["targets"]]))
    with open(out + "/t.onnx", "wb") as f:
        f.write(num(1, 9) + sub(7, graph) + sub(8, num(2, 21)) + sub(8, sub(1, "ai.onnx.ml") + num(2, 5)))
    x = r.integers(-3, 4, (9, 3)).astype(np.float32)
    if e["missing"]:
        x[r.random(x.shape) < 0.2] = np.nan
    np.save(out + "/x.npy", x)
    subprocess.run([arenac, "run", "-q", out + "/t.onnx", "--input", "0=" + out + "/x.npy", "--output-dir", out,
                    "--backend", backend], check=True)
    got, want = np.load(out + "/0.npy"), evaluate(e, x)
    assert np.allclose(got, want, 1e-5, 1e-5), (seed, e, x, got, want)
print("%s ensembles agree" % seeds)
