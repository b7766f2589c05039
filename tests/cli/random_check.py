#!/usr/bin/env python3
"""random_check.py - models of random.sh, and their numbers against a Philox of NumPy and exact moments.

    random_check.py models SOURCE_DIR | draws FIRST SECOND SEEDED | onnx DIR | mxnet DIR | loop DIR | runs FILE

All seeds are fixed, so a check that passes once always does; limits are five standard errors.
"""
import json, pathlib, sys
import numpy as np

N = 20001
DRAWS = [("u32", "to=u32", 1), ("i64", "to=i64", 2), ("unit", "", 3), ("range", "low=-1.25 high=2.5", 4),
         ("wide", "to=f64 low=3 high=3.5", 5), ("normal", "kind=normal", 6),
         ("moved", "kind=normal mean=3 deviation=0.5", 7),
         ("normal64", "kind=normal to=f64", 8), ("cut", "kind=truncated", 9), ("cut64", "kind=truncated to=f64", 10),
         ("again", "kind=normal", 11)]


def philox(seed, run, stream, blocks):
    """Words [blocks, 4] of Philox 4x32-10: Salmon et al. 2011."""
    c = [np.arange(blocks, dtype=np.uint64), *(np.full(blocks, v & 0xFFFFFFFF, np.uint64) for v in (stream, run, 0))]
    key, low = [seed & 0xFFFFFFFF, seed >> 32], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, 1)


def models(src):
    graph = "graph g {\n  state numbers: i32[4]\n%s\n}\n"
    lines = ["  %s = random(numbers) %s stream=%d shape=[%d]" % (n, a, s, N) for n, a, s in DRAWS]
    pathlib.Path("draws.ag").write_text(graph % "\n".join(lines + ["  output " + n for n, *_ in DRAWS]))
    pathlib.Path("small.ag").write_text(graph % "  y = random(numbers) to=u32 stream=0 shape=[4]\n  output y")
    pathlib.Path("zero.ag").write_text(graph % """  input x: f32[4,3]
  const zero: f32[] = [0]
  n = random(numbers) kind=normal stream=1 shape=[4,3]
  e = exp(x)
  m = mul(n, e)
  z = mul(m, zero)
  y = add(z, x)
  o = reshape(y) shape=[4,3]
  output o""")
    body = """  r = random(numbers) stream=1 shape=[4,3]
  const t: f32[] = [10]
  q = mul(s, t)
  u = add(q, r)"""
    loop = """graph g0 {
  input x: f32[4,3]
  %s
  n, y = while(z, x) first=1 second=2
  output y
}
graph g1 {
  input i: i32[]
  input s: f32[4,3]
  const k: i32[] = [3]
  c = less(i, k)
  output c
}
graph g2 {
  input i: i32[]
  input s: f32[4,3]
  const o: i32[] = [1]
  state numbers: i32[4]
  j = add(i, o)
""" + body + "\n  output j\n  output u\n}\n"
    pathlib.Path("loop.ag").write_text(loop % "const z: i32[] = [0]")
    pathlib.Path("while.ag").write_text(loop % "input z: i32[]")
    pathlib.Path("noisy.ag").write_text(graph % """  input x: f32[2,3]
  const w: f32[3,3] = random 1
  h = fully_connected(x, w)
  e = random(numbers) kind=normal deviation=0.1 shape=[2,3] stream=9
  y = add(h, e)
  output y""")
    np.save("x.npy", np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
    np.save("p.npy", np.full(N, 0.3, np.float32))
    np.save("l.npy", np.log(np.array([[1, 2, 3, 4, 0.001], [0.5, 1e-30, 0.5, 1e-30, 1e-30]], np.float32)))
    sys.path[:0] = [src + "/tests/golden", src + "/models"]
    from onnx_bytes import attr_float, attr_int, attr_ints, graph as onnx_graph, model, node
    f, d, i = 1, 11, 6
    nodes = [node("RandomUniform", [], ["uniform"], attr_ints("shape", [N]) + attr_float("low", -2)),
             node("RandomNormal", [], ["normal"],
                  attr_ints("shape", [N]) + attr_float("mean", 1) + attr_float("scale", 2)),
             node("RandomNormalLike", ["p"], ["like"], attr_int("dtype", d) + attr_float("seed", 7)),
             node("RandomNormalLike", ["p"], ["same"], attr_int("dtype", d) + attr_float("seed", 7)),
             node("RandomUniformLike", ["p"], ["half"], attr_int("dtype", 10)),
             node("Bernoulli", ["p"], ["coin"], attr_int("dtype", i)),
             node("Multinomial", ["l"], ["choice"], attr_int("sample_size", N))]
    outs = [("uniform", f, [N]), ("normal", f, [N]), ("like", d, [N]), ("same", d, [N]), ("half", 10, [N]),
            ("coin", i, [N]), ("choice", i, [2, N])]
    ins = [("p", f, [N]), ("l", f, [2, 5]), ("x", f, [4, 3])]
    data = model(onnx_graph(nodes, ins=ins, outs=outs), opsets=(("", 22),))
    pathlib.Path("draws.onnx").write_bytes(data)
    symbols()


# name, operator, operands, attributes, outputs of MXNet
SYMBOLS = [("uniform", "_random_uniform", [], {"low": "-2", "high": "1", "shape": f"({N},)"}),
           ("normal", "_random_normal", [], {"loc": "1", "scale": "2", "shape": f"({N},)"}),
           ("waits", "_random_exponential", [], {"lam": "4", "shape": f"({N},)"}),
           ("dice", "_random_randint", [], {"low": "1", "high": "7", "shape": f"({N},)"}),
           ("like", "_random_normal_like", ["p"], {}),
           ("rows", "_sample_uniform", ["a", "b"], {"shape": f"({N},)"}),
           ("bells", "_sample_normal", ["a", "b"], {"shape": f"({N},)"}),
           ("choice", "_sample_multinomial", ["c"], {"shape": f"({N},)"}),
           ("mixed", "_shuffle", ["s"], {})]


def symbols():
    shapes = {"p": (N,), "a": (2,), "b": (2,), "c": (2, 3), "s": (N,)}
    names = [*shapes, *(s[0] for s in SYMBOLS)]
    nodes = [{"op": "null", "name": n, "attrs": {"__shape__": str(d)}, "inputs": []} for n, d in shapes.items()]
    nodes += [{"op": op, "name": n, "attrs": a, "inputs": [[names.index(i), 0, 0] for i in ins]}
              for n, op, ins, a in SYMBOLS]
    heads = [[names.index(s[0]), 0, 0] for s in SYMBOLS]
    graph = {"nodes": nodes, "arg_nodes": list(range(len(shapes))), "heads": heads}
    pathlib.Path("draws-symbol.json").write_text(json.dumps(graph))
    np.save("a.npy", np.array([-1, 10], np.float32))
    np.save("b.npy", np.array([3, 12], np.float32))
    np.save("c.npy", np.array([[0.1, 0.2, 0.7], [0.5, 0, 0.5]], np.float32))
    np.save("s.npy", np.arange(N, dtype=np.float32))


def moments(name, v, mean, variance, fourth=None):
    """Mean, variance, and fourth central moment (standard error from the sample) within five standard errors."""
    v = np.asarray(v, np.float64).ravel()
    d = v - mean
    for what, x, want in (("mean", v, mean), ("variance", d ** 2, variance), ("fourth moment", d ** 4, fourth)):
        if want is not None:
            error = 5 * x.std() / np.sqrt(v.size)
            assert abs(x.mean() - want) <= error, "%s: %s %g, expected %g +- %g" % (name, what, x.mean(), want, error)


def independent(name, a, b):
    a, b = (np.asarray(v, np.float64).ravel() for v in (a, b))
    n = min(a.size, b.size)
    r = np.corrcoef(a[:n], b[:n])[0, 1]
    assert abs(r) < 5 / np.sqrt(n), "%s: correlation %g" % (name, r)


def load(folder, names):
    return {n: np.load("%s/%d.npy" % (folder, k)) for k, n in enumerate(names)}


def draws(first, second, seeded):
    names = [n for n, *_ in DRAWS]
    v, next_run, other = (load(f, names) for f in (first, second, seeded))
    stream = {n: s for n, _, s in DRAWS}
    blocks = N // 2 + 1
    for values, seed, run in ((v, 0, 0), (next_run, 0, 1), (other, 12345678901, 0)):
        w = {n: philox(seed, run, s, blocks).ravel() for n, s in stream.items()}
        pairs = {n: w[n][::2] | w[n][1::2] << np.uint64(32) for n in names}
        assert (values["u32"] == w["u32"][:N]).all() and (values["i64"].view(np.uint64) == pairs["i64"][:N]).all()
        assert (values["unit"] == (w["unit"] >> np.uint64(8))[:N].astype(np.float32) * np.float32(2 ** -24)).all()
        assert (values["wide"] == np.minimum(3 + 0.5 * ((pairs["wide"] >> np.uint64(11))[:N] * 2.0 ** -53),
                                             np.nextafter(3.5, 3))).all()
        for n, wide in (("normal", False), ("normal64", True)):
            x = pairs[n] if wide else w[n]
            bits, shift = (53, 11) if wide else (31, 1)
            real = np.float64 if wide else np.float32
            u = ((x[::2] >> np.uint64(shift)).astype(real) + real(1)) * real(2.0 ** -bits)
            u = u.astype(np.float64)
            turn = x[1::2]
            part = (turn >> np.uint64(11 if wide else 8)) * 2.0 ** -(53 if wide else 24) - 0.5
            angle = np.pi / 2 * ((turn & np.uint64(3)).astype(np.float64) + part)
            r = np.sqrt(-2 * np.log(u))
            want = np.stack([r * np.cos(angle), r * np.sin(angle)], 1).ravel()[:N]
            limit = 1e-13 if wide else 2e-6
            assert np.abs(values[n] - want).max() < limit, (n, np.abs(values[n] - want).max())
    moments("unit", v["unit"], 1 / 2, 1 / 12, 1 / 80)
    moments("range", v["range"], 0.625, 3.75 ** 2 / 12)
    moments("normal", v["normal"], 0, 1, 3)
    moments("moved", v["moved"], 3, 0.25)
    moments("normal64", v["normal64"], 0, 1, 3)
    for n in ("cut", "cut64"):
        moments(n, v[n], 0, 0.7737413)
        assert np.abs(v[n]).max() <= 2 < np.abs(v[n]).max() + 0.001
    assert v["range"].min() >= -1.25 and v["range"].max() < 2.5 and v["unit"].min() >= 0 and v["unit"].max() < 1
    parts = np.bincount((v["unit"] * 64).astype(int), minlength=64)
    assert ((parts - N / 64) ** 2).sum() / (N / 64) < 63 + 5 * np.sqrt(126), "unit: not uniform"
    tail = (np.abs(v["normal"]) > 2).mean()
    assert abs(tail - 0.0455) < 5 * np.sqrt(0.0455 / N), "normal: tail %g" % tail
    for n in names:
        x = v[n].astype(np.float64)
        independent(n + " and the next element", x[:-1], x[1:])
        independent(n + " and the next run", x, next_run[n])
        independent(n + " and another seed", x, other[n])
    independent("two streams", v["normal"], v["again"])


def onnx(folder):
    v = load(folder, "uniform normal like same half coin choice".split())
    moments("RandomUniform", v["uniform"], -0.5, 9 / 12)
    moments("RandomNormal", v["normal"], 1, 4)
    moments("RandomNormalLike", v["like"], 0, 1, 3)
    moments("Bernoulli", v["coin"], 0.3, 0.21)
    assert v["like"].dtype == np.float64 and v["half"].dtype == np.float16 and v["coin"].dtype == np.int32
    assert (v["like"] == v["same"]).all(), "one seed, but two streams"
    independent("RandomUniform and RandomNormal", v["uniform"], v["normal"])
    for row, p in zip(v["choice"], ([0.1, 0.2, 0.3, 0.4, 0.0001], [0.5, 0, 0.5, 0, 0])):
        share = np.bincount(row, minlength=5) / N
        assert (np.abs(share - p) <= 5 * np.sqrt(np.array(p) / N) + 1e-6).all(), share


def mxnet(folder):
    v = load(folder, [s[0] for s in SYMBOLS])
    moments("uniform", v["uniform"], -0.5, 9 / 12)
    moments("normal", v["normal"], 1, 4)
    moments("exponential", v["waits"], 1 / 4, 1 / 16)
    moments("randint", v["dice"], 3.5, 35 / 12)
    assert set(v["dice"].tolist()) == {1, 2, 3, 4, 5, 6} and v["waits"].min() >= 0
    moments("normal_like", v["like"], 0, 1, 3)
    for row, low, high in zip(v["rows"], (-1, 10), (3, 12)):
        moments("sample_uniform", row, (low + high) / 2, (high - low) ** 2 / 12)
    for row, mean, deviation in zip(v["bells"], (-1, 10), (3, 12)):
        moments("sample_normal", row, mean, deviation ** 2)
    for row, p in zip(v["choice"], ([0.1, 0.2, 0.7], [0.5, 0, 0.5])):
        share = np.bincount(row.astype(int), minlength=3) / N
        assert (np.abs(share - p) <= 5 * np.sqrt(np.array(p) / N) + 1e-6).all(), share
    mixed = v["mixed"]
    assert (np.sort(mixed) == np.arange(N)).all(), "shuffle: not the same elements"
    independent("shuffle", mixed, np.arange(N))
    independent("uniform and normal", v["uniform"], v["normal"])
    independent("two rows", v["rows"][0], v["rows"][1])


def loop(folder):
    y = np.load(folder + "/0.npy") - 1000 * np.load("x.npy")
    # 100 a + 10 b + c of three numbers below 1: of one number it would be 111 a
    one = philox(0, 0, 1, 3).ravel()
    assert np.abs(y - 111 * (one >> np.uint64(8)).reshape(4, 3) * 2.0 ** -24).max() > 1, "iterations draw one number"


def runs(path):
    got = [[int(w) for w in line.split()] for line in open(path)]
    big = 0xFEDCBA9876543210
    want = [philox(seed, run, 0, 1)[0].tolist() for seed, run in ((0, 0), (0, 1), (big, 7), (big, 8), (0, 0))]
    # the first of these is the example of Random123: counter and key 0
    assert want[0] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert got == want, (got, want)


def module():
    """Prints runs of small.py as random_main.c does; refuses seeds of more than 64 bits."""
    sys.path.insert(0, ".")
    import small
    m = small.Model()

    def print_run():
        print(*m.run()[0].numpy().tolist())
    print_run()
    print_run()
    m.seed(0xFEDCBA9876543210, run=7)
    print_run()
    print_run()
    m.reset()
    print_run()
    for wrong in ((-1, 0), (1 << 64, 0), (0, 1 << 32)):
        try:
            m.seed(*wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)


{"models": models, "module": module, "draws": draws, "onnx": onnx, "mxnet": mxnet, "loop": loop,
 "runs": runs}[sys.argv[1]](*sys.argv[2:])
