"""Texts through `arenac run` (texts_check.py ARENAC FEW MANY), and through the Python module (no arguments)."""
import json
import pathlib
import subprocess
import sys

import numpy as np

COLORS = ["red", "été", "", "a \"b\" \\ ??/ \n%s*/"]
COEFFICIENTS = np.float32([1, 2, 3, 4, 5, 3, 2, 1, 4, 0, -1, 0, 2, 1, 6]).reshape(3, 5)


def expected(color, w, many=False):
    """label, number, name and is_red of one row"""
    hot = np.float32([color == c for c in COLORS] + [w])
    scores = COEFFICIENTS @ hot + np.float32([0.5, 0, -0.5])
    known = dict(zip(COLORS, (10, 20, 30, 40)))
    known.update({"w%d" % i: i for i in range(10000)} if many else {})
    number = known.get(color, -7)
    return (["no", "yes", "été"][int(np.argmax(scores))], number, {10: "ten", 20: "twenty"}.get(number, "many"),
            color == "red")


def rows(many=False):
    others = ["pink", "re", "redd", "RED", "é", "e\u0301te\u0301", "w5", "w9999", "x" * 5000, "𝄞 and more"]
    all_of = COLORS + others
    return [((all_of[i], all_of[-i]), (float(i) - 3, 0.25)) for i in range(len(all_of))]


def agree(got, colors, w, many=False):
    want = [expected(c, x, many) for c, x in zip(colors, w)]
    label, _, number, name, is_red = got
    assert list(np.ravel(label)) == [e[0] for e in want], (colors, w, label, want)
    assert list(np.ravel(number)) == [e[1] for e in want], (colors, number, want)
    assert list(np.ravel(name)) == [e[2] for e in want], (colors, name, want)
    assert list(np.ravel(is_red)) == [e[3] for e in want], (colors, is_red, want)


def tool(arenac, model, many):
    def run(color, w, *more):
        np.save("color.npy", color)
        np.save("w.npy", np.float32(w).reshape(2, 1))
        return subprocess.run([arenac, "run", model, "--input", "color=color.npy", "--input", "w=w.npy", *more],
                              capture_output=True, text=True, encoding="utf-8")

    for i, (colors, w) in enumerate(rows()):
        backend = "c" if i == 1 else "cuda-emu" if i == 2 else "eval"
        column = np.array(colors).reshape(2, 1)
        forms = [column, np.char.encode(column, "utf-8")]
        p = run(forms[i % 2], w, "--output-dir", "out", "--backend", backend,
                *(["-t", "cuda-sm80"] if backend == "cuda-emu" else []))
        assert not p.returncode, p.stderr
        got = [np.load("out/%d.npy" % k) for k in range(5)]
        assert [g.dtype.kind for g in got] == ["U", "f", "i", "U", "b"], [g.dtype for g in got]
        agree(got, colors, w, many)
    red = np.array([["red"], ["red"]])
    p = run(red, (1, 1), "--json", "--backend", "eval")
    out = json.loads(p.stdout)["outputs"]
    assert out[0]["values"] == ["no", "no"] and out[3]["values"] == ["ten", "ten"] and out[3]["texts"] == "known", out
    assert "output 3 'name' i32 [2,1] word: 'ten' 'ten'" in run(red, (1, 1), "--backend", "eval").stdout
    np.save("want.npy", np.array([["ten"], ["many"]]))
    assert run(np.array([["red"], ["blue"]]), (1, 1), "--compare", "name=want.npy", "--backend", "eval").returncode == 0
    assert run(red, (1, 1), "--compare", "name=want.npy", "--backend", "eval").returncode == 5
    raw = np.zeros((2, 1), "<U3")
    raw.view("<u4")[:] = [[0xd800, 65, 66], [0x110000, 0, 0]]
    assert not run(raw, (1, 1), "--output-dir", "out", "--backend", "eval").returncode
    agree([np.load("out/%d.npy" % k) for k in range(5)], ("pink", "pink"), (1, 1))
    for wrong, what in ((np.float32([[1], [2]]), "array of texts"), (np.array(["red", "red"]), "reshape"),
                        (np.array([["red"], ["red"]], object), "objects of Python"),
                        (np.array([["red"], ["red"]], ">U3"), "big-endian"), (np.int32([[10010], [0]]), "index")):
        p = run(wrong, (1, 1), "-q", "--backend", "eval")
        assert p.returncode and what in p.stderr, (wrong, p.returncode, p.stderr)
    codes = np.int32([[0], [1]])
    assert not run(codes, (1, 1), "--backend", "eval").returncode  # codes are as good as texts


def module():
    sys.path.insert(0, ".")
    import texts

    assert texts.in0_code("red") == texts.in0_code(b"red") == texts.TEXTS.index("red")
    assert texts.in0_code("pink") == texts.in0_code(None) == texts.in0_code(b"\xff") == len(texts.TEXTS) == 9
    assert texts.out0_text(len(texts.TEXTS)) is None and texts.out0_text(0) == ""
    for colors, w in rows():
        column = [[colors[0]], [colors[1]]]
        for x in (column, np.array(column), np.array(column, object), np.int32([[texts.in0_code(c)] for c in colors])):
            y = texts.run(x, np.float32(w).reshape(2, 1))
            agree([y[0].texts(), y[1], y[2].numpy(), y[3].texts(), y[4].numpy()], colors, w)


if len(sys.argv) > 1:
    tool(sys.argv[1], pathlib.Path(sys.argv[2]), False)
    tool(sys.argv[1], pathlib.Path(sys.argv[3]), True)
else:
    module()
