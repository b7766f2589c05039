#!/usr/bin/env python3
"""constants.py - constants that loops compute take no ROM, and results are those of the steps that would make them.

    constants.py ARENAC

Every model is run with --skip fold, so that each operator is a step, and for each target but the Cortex-M4 with
constants folded, by the evaluator and as C. All must give the same bits, and every module is proven. Constants that are
larger in ROM than in the file are named with the reason: a model for each reason."""
import json, pathlib, random, re, struct, subprocess, sys, tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(TOP / "tests/golden"), str(TOP / "models")]
import onnx_bytes

R = random.Random(5)


def data(count, bits=8):
    return 'hex "' + bytes(R.randrange(256) for _ in range(count * bits // 8)).hex() + '"'


def codes(count, low, high):
    return "[" + ", ".join(str(R.randint(low, high)) for _ in range(count)) + "]"


def floats(count):
    return "[" + ", ".join(f"{R.uniform(-1, 1):.4f}" for _ in range(count)) + "]"


def graph(*lines, output="y"):
    return "graph g {\n  " + "\n  ".join(lines) + f"\n  output {output}\n}}\n"


def looked(*lines):
    """A table of bytes, cast to floats f; the lines make g of it, whose rows are looked up."""
    return graph("input i: i64[5]", f"const q: i8[200,32] = {data(6400)}", "f = cast(q) to=f32", *lines,
                 "y = gather(g, i) axis=0")


def transform(op, shape, result, **numbers):
    """An ONNX model of STFT or DFT of real numbers, onesided, with whole numbers as operands."""
    o = onnx_bytes
    whole = {"step": 1, "length": 3} if op == "STFT" else {"length": 1, "axis": 2}
    words = ["x"] + [next((n for n, at in whole.items() if at == i and n in numbers), "") for i in range(1, 4)]
    constants = [o.tensor(n, o.I64, [], struct.pack("<q", v)) for n, v in numbers.items()]
    node = o.node(op, words, ["y"], o.attr_int("onesided", 1))
    return o.model(o.graph([node], [("x", o.F32, shape)], [("y", o.F32, result)], constants), opsets=(("", 20),))


# name: the most bytes of constants, the text, or the bytes of an ONNX model
MODELS = {
    "stft": (1024, transform("STFT", [1, 1200, 1], [1, 10, 129, 2], step=100, length=256)),
    "stft_odd": (4 * 4 * 45, transform("STFT", [1, 300, 1], [1, 14, 23, 2], step=19, length=45)),
    "dft": (4 * 60, transform("DFT", [3, 60, 1], [3, 31, 2], length=60, axis=1)),
    "concat": (0, graph("input x: f32[2,64]", "const f: f32[100,64] = splat 2.5",
                        "y = concatenation(x, f) axis=0")),
    "scatter": (16, graph("input x: f32[2,64]", "const f: f32[100,64] = splat 0", "const i: i64[2,1] = [3, 9]",
                          "y = scatter_into(f, i, x)")),
    "half": (0, graph("input x: f16[2,64]", "const f: f16[100,64] = splat -0.0", "y = concatenation(x, f) axis=0")),
    "mask": (0, graph("input x: f32[3,60,60]", "const r: i32[60,1] = " + str(list(range(60))),
                      "const c: i32[1,60] = " + str(list(range(60))), "const n: f32[] = [-1e9]", "m = less_equal(c, r)",
                      "y = select(m, x, n)")),
    "cut_mask": (0, graph("input x: f32[3,60,60]", "const r: i32[80,1] = " + str(list(range(80))),
                          "const c: i32[1,70] = " + str(list(range(70))), "const n: f32[] = [-1e9]",
                          "m = less_equal(c, r)", "const b: i64[2] = [7, 3]", "const s: i64[2] = [60, 60]",
                          "k = slice(m, b, s)", "y = select(k, x, n)")),
    "bytes": (6400, graph("input i: i64[5]", f"const q: i8[200,32] = {data(6400)}", "f = cast(q) to=f32",
                          "y = gather(f, i) axis=0")),
    "scaled": (7200, graph("input i: i64[5]", f"const q: i8[200,32] = {data(6400)}",
                           f"const s: f32[200,1] = {floats(200)}", "f = cast(q) to=f32", "g = mul(f, s)",
                           "y = gather(g, i) axis=0")),
    "turned": (7200, graph("input i: i64[5]", f"const q: i8[32,200] = {data(6400)}",
                           f"const s: f32[1,200] = {floats(200)}", "f = cast(q) to=f32", "g = mul(f, s)",
                           "t = transpose(g) perm=[1,0]", "y = gather(t, i) axis=0")),
    "columns": (7200, graph("input j: i64[5]", "const e: i64[] = [32]", "i = floor_mod(j, e)",
                            f"const q: i8[200,32] = {data(6400)}", f"const s: f32[200,1] = {floats(200)}",
                            "f = cast(q) to=f32", "g = mul(f, s)",
                            "y = gather(g, i) axis=1")),
    "any": (7200, graph("input i: i64[5]", f"const q: i8[200,32] = {data(6400)}",
                        f"const s: f32[200,1] = {floats(200)}", "f = cast(q) to=f32", "g = mul(f, s)",
                        "h = reshape(g) shape=[6400]", "y = gather(h, i) axis=0")),
    "of_each": (6528, graph("input j: i64[200,5]", f"const q: i8[200,32] = {data(6400)}",
                            "const e: i64[] = [32]", "i = floor_mod(j, e)", f"const s: f32[1,32] = {floats(32)}",
                            "f = cast(q) to=f32", "g = mul(f, s)",
                            "y = gather_elements(g, i) axis=1")),
    "nibbles": (3200, graph("input i: i64[5]", f"const q: i4[200,32] = {codes(6400, -8, 7)}", "f = cast(q) to=f32",
                            "y = gather(f, i) axis=0")),
    "odd_nibbles": (2899, graph("input i: i64[5]", f"const q: u4[187,31] = {codes(5797, 0, 15)}",
                                "f = cast(q) to=f32", "y = gather(f, i) axis=0")),
    "rows": (256, graph("input x: f32[50,64]", f"const b: f32[1,64] = {floats(64)}", "const t: i64[2] = [50, 1]",
                        "r = tile(b, t)", "y = mul(x, r)")),
    # other arithmetic under a look-up
    "quotient": (7200, looked(f"const s: f32[200,1] = {floats(200)}", "g = div(f, s)")),
    "clamped": (7200, looked(f"const s: f32[200,1] = {floats(200)}", "h = sub(f, s) act=relu6", "g = relu(h)")),
    "curves": (6400, looked("a = square(f)", "b = sqrt(a)", "c = leaky_relu(b) alpha=0.5", "d = hard_swish(c)",
                            "g = floor(d)")),
    "differences": (6656, looked(f"const m: f32[1,32] = {floats(32)}", "a = squared_difference(f, m)",
                                 f"const p: f32[32] = {floats(32)}", "g = prelu(a, p)")),
    "signs": (6400, looked("a = sign(f)", "const h: f32[] = [0.3]", "b = mul(a, h)", "c = ceil(b)", "g = round(c)")),
    "whole_bits": (6400, graph("input i: i64[5]", f"const q: i8[200,32] = {data(6400)}", "f = cast(q) to=i32",
                               "const k: i32[] = [3]", "a = shift_left(f, k)", "b = bitwise_xor(a, f)",
                               "c = floor_div(b, k)", "g = div(c, k)", "y = gather(g, i) axis=0")),
    # pieces of unlike fills, of a fill and elements of the file, borders
    "two_fills": (0, graph("input x: f32[2,70,64]", "const a: f32[2,30,64] = splat 2",
                           "const b: f32[2,40,64] = splat -1", "c = concatenation(a, b) axis=1", "y = add(x, c)")),
    "five_fills": (0, graph("input x: f32[40,67]", *(f"const c{i}: f32[40,{w}] = splat {i}.5" for i, w in
                                                    enumerate([8, 1, 30, 8, 20])),
                            "c = concatenation(c0, c1, c2, c3, c4) axis=-1", "y = add(x, c)")),
    "mostly_fill": (1280, graph("input x: f32[200,32]", f"const a: f32[10,32] = {floats(320)}",
                                "const b: f32[190,32] = splat 0.25", "c = concatenation(b, a) axis=0",
                                "y = mul(x, c)")),
    "between": (16 * 60, graph("input x: f32[40,60]", f"const q: i8[40,24] = {data(960)}",
                               "const b: f32[40,16] = splat 7", "const e: f32[40,20] = splat 9", "f = cast(q) to=f32",
                               "c = concatenation(b, f, e) axis=1", "y = add(x, c)")),
    "looked_up": (1280, graph("input i: i64[7]", f"const a: f32[10,32] = {floats(320)}",
                              "const b: f32[190,32] = splat 3", "c = concatenation(b, a) axis=0",
                              "y = gather(c, i) axis=0")),
    "half_fills": (0, graph("input x: f16[20,5]", "const a: f16[20,64] = splat -0.0",
                            "const b: f16[20,66] = splat 1.5", "c = concatenation(a, b) axis=1",
                            "y = concatenation(x, c) axis=1")),
    "mask_of_two": (0, graph("input x: f32[40,130]", "const a: bool[40,64] = splat true",
                             "const b: bool[40,66] = splat false", "c = concatenation(a, b) axis=1",
                             "const n: f32[] = [-3]", "y = select(c, x, n)")),
    "packed": (0, graph("input x: f32[9,3,50]", "const a: f32[9,50] = splat 1", "const b: f32[9,50] = splat 2",
                        "c = pack(a, b, a) axis=1", "y = add(x, c)")),
    "border": (0, graph("input x: f32[20,40,33]", "const a: f32[10,30,33] = splat 2", "const v: f32[] = [0.5]",
                        "const p: i64[3,2] = [3, 7, 6, 4, 0, 0]", "c = padv2(a, p, v)", "y = add(x, c)")),
    "zero_border": (0, graph("input x: i32[2,70,71]", "const a: i32[2,64,64] = splat 5",
                             "const p: i64[3,2] = [0, 0, 3, 3, 0, 7]", "c = pad(a, p)", "y = add(x, c)")),
    "wide_border": (4 * 320, graph("input x: f32[40,64]", f"const a: f32[10,32] = {floats(320)}",
                                   "const p: i64[2,2] = [16, 14, 8, 24]", "c = pad(a, p)", "y = add(x, c)")),
    "numbers": (0, graph("input x: f32[2,600]", f"const c: f32[600] = {[float(i) for i in range(-5, 595)]}",
                         "y = add(x, c)")),
    "fills": (0, graph("input x: f32[40,64]", "const a: f32[40,64] = splat 3", "const b: f32[40,64] = splat 0.5",
                       "c = mul(a, b)", "d = sub(c, b)", "y = add(x, d)")),
    "words": (8192, graph("input x: f32[20,64]", f"const q: i16[64,64] = {data(4096, 16)}", "f = cast(q) to=f32",
                          "const s: f32[] = [0.01]", "w = mul(f, s)", "y = batch_matmul(x, w)")),
    "small_floats": (4096, graph("input x: f32[20,64]", f"const q: f8e4m3fn[64,64] = {codes(4096, 0, 15)}",
                                 "w = cast(q) to=f32", "y = batch_matmul(x, w)")),
}
BYTES = f"const q: i8[64,64] = {data(4096)}"
REST = [f"const q: i8[63,32] = {data(63 * 32)}", "const b: f32[63,33] = splat 3", "const e: f32[63,67] = splat 4",
        "f = cast(q) to=f32", "c = concatenation(b, f, e) axis=1", "y = add(x, c)"]
CONV = "const q: f32[63,3,3,32] = random 1 (-1,1)"
# Part of the reason: target and options, the text, the constant, its bytes in ROM and in the file.
REASONS = {
    "exp makes it": ("generic", graph("input x: f32[64,64]", BYTES, "f = cast(q) to=f32", "g = exp(f)",
                                      "y = add(x, g)"), "q", 16384, 4096),
    "each element several times": ("x86-64-v3", graph("input x: f32[200,64]", BYTES, "w = cast(q) to=f32",
                                                      "y = batch_matmul(x, w)"), "q", 16384, 4096),
    "would convert it each time": ("x86-64-v3", graph("input x: f32[200,64]", BYTES, "w = cast(q) to=f32",
                                                      "y = fully_connected(x, w)"), "q", 16384, 4096),
    "elements of several rows": ("x86-64-v3", graph("input x: f32[63,132]", *REST), "q", 33264, 2016),
    "begin inside a byte": ("x86-64-v3", MODELS["odd_nibbles"][1], "q", 5797, 2899),
    "the last ones are padded": ("x86-64-v3", graph("input x: f32[1,16,16,32]", CONV, "y = conv_2d(x, q) padding=same"),
                                 "q", 73728, 72576),
    "for Winograd's": ("x86-64-v3 --winograd=2", graph("input x: f32[1,16,16,32]", CONV,
                                                       "y = conv_2d(x, q) padding=same"), "q", 131072, 72576),
    "other forms": ("x86-64-v3", graph("input x: f32[200,64]", "const w: f32[64,64] = random 1 (-1,1)",
                                       "y = fully_connected(x, w)", "u = transpose(x) perm=[1,0]",
                                       "r = batch_matmul(w, u)", output="y, r"), "w", 32768, 16384),
    # a table of bytes whose rows are looked up, and a product that packs it
    "read it in other forms, and": ("cortex-m4", graph("input i: i64[5]", "input x: f32[3,64]", BYTES,
                                                       f"const s: f32[64,1] = {floats(64)}", "f = cast(q) to=f32",
                                                       "w = mul(f, s)", "y = gather(w, i) axis=0",
                                                       "z = fully_connected(x, w)", output="y, z"), "q", 8192, 4096),
    "arithmetic uses tables": ("generic", graph("input x: f32[1,1024,2]", "y = fft(x)"), "y", 8096, 0),
    "compressed or sparse": ("generic", None, "q", 16384, 36),
}


def sparse_model():
    """The bytes of an ONNX model with a sparse constant of three elements, which a Relu reads as well."""
    o = onnx_bytes
    q = o.sparse("q", [64, 64], [1, 2, 3], [1, 5, 9])
    x, y = (("x", 1, [64, 64]), ("y", 1, [64, 64]))
    return o.model(o.graph([o.node("Add", ["x", "q"], ["y"])], [x], [y], thin=[q]))


TARGETS = ["generic", "cortex-m4", "x86-64-v3"]
# With vectors a product of many rows reads its weights as floats: a whole matrix of them is stored.
FASTER = {"stft": 300000, "stft_odd": 12000, "dft": 16384, "words": 16384, "small_floats": 16384, "odd_nibbles": 5797}


def main():
    arenac = str(pathlib.Path(sys.argv[1]).resolve())
    bad = 0

    def run(*words):
        return subprocess.run([arenac, *words], capture_output=True, text=True, timeout=100)

    def results(folder):
        return [f.read_bytes() for f in sorted(pathlib.Path(folder).glob("*.npy"))]

    with tempfile.TemporaryDirectory() as top:
        for why, (target, text, name, rom, stored) in REASONS.items():
            file = pathlib.Path(top, "why.ag" if text else "why.onnx")
            file.write_bytes(text.encode() if text else sparse_model())
            p = run("plan", file, "-t", *target.split(), "--json", "-q")
            rows = json.loads(p.stdout).get("larger_constants", []) if not p.returncode else []
            if [(r["name"], r["rom_bytes"], r["file_bytes"], why in r["reason"]) for r in rows] != \
                    [(name, rom, stored, True)]:
                print(f"{why}: {rows} {p.stderr}")
                bad += 1
            said = f"'{name}': {rom:,} B in ROM, {stored:,} B in the file: stored as"
            if said not in " ".join(run("plan", file, "-t", *target.split()).stdout.split()):
                print(f"{why}: no note")
                bad += 1
        rows = re.findall(r"^\| .STFT. of 16,000 samples, frames of (\d+) \| ([\d,]+) \| ([\d,]+) \|$",
                          (TOP / "docs/constants.md").read_text(), re.M)
        for length, matrix, turn in rows:
            n, file = int(length), pathlib.Path(top, "long.onnx")
            file.write_bytes(transform("STFT", [1, 16000, 1], [1, (16000 - n) // 160 + 1, n // 2 + 1, 2], step=160,
                                       length=n))
            p = run("plan", file, "--json", "-q", "-t", "cortex-m4")
            rom = json.loads(p.stdout)["model"]["weight_bytes"] if not p.returncode else -1
            if (f"{rom:,}", f"{(n // 2 + 1) * n * 8:,}") != (turn, matrix):
                print(f"STFT of frames of {n}: {rom} bytes, docs/constants.md has {turn}, and {matrix} for a matrix")
                bad += 1
        bad += not rows
        for name, (most, text) in MODELS.items():
            file = f"{top}/{name}.onnx" if isinstance(text, bytes) else f"{top}/{name}.ag"
            pathlib.Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
            plain = run("run", file, "--random", "3", "--backend", "eval", "--exact", "--skip", "fold",
                        "--output-dir", f"{top}/p")
            want = results(f"{top}/p")
            if plain.returncode or not want:
                print(f"{name}: {plain.stderr}")
                bad += 1
                continue
            for t in TARGETS:
                p = run("plan", file, "--json", "-q", "-t", t)
                rom = json.loads(p.stdout)["model"]["weight_bytes"] if not p.returncode else -1
                allowed = FASTER.get(name, most) if t.startswith("x86") else most
                if not 0 <= rom <= allowed:
                    print(f"{name}, {t}: {rom} bytes of constants, at most {allowed}: {p.stderr}")
                    bad += 1
                p = run("prove", file, "-t", t)
                if p.returncode:
                    print(f"{name}, {t}: not proven: {p.stdout}{p.stderr}")
                    bad += 1
                for backend in ["eval", "c"] if t != "cortex-m4" else []:
                    p = run("run", file, "--random", "3", "--backend", backend, "-t", t, "--exact", "--output-dir",
                            f"{top}/o")
                    if p.returncode or results(f"{top}/o") != want:
                        print(f"{name}, {t}, {backend}: other results than with --skip fold: {p.stderr}")
                        bad += 1
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
