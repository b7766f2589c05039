#!/usr/bin/env python3
"""Converts models to another form and back in, and compares what comes of them.

  round_trip.py --arenac build/arenac [--to ag|onnx] [--jobs N] [--run] [PATH ...]

PATH is a folder that holds model.json files at any depth (../shared/models when none is given). --to ag: the C and the
weights that arenac prints for both have to be equal byte for byte (so all results are equal, on every input); where the
C is not, and with --run everywhere, both are run on the first set, and every bit of the outputs has to be equal.
--to onnx: the outputs of the first set have to agree within 1e-5 of the largest value, of quantised models (which run
in real numbers between roundings) within 8 % of it; models that ONNX cannot express (exit 8) are counted. Exit status 0
when no model differs or fails. Needs Python 3 with numpy.
"""
import argparse, concurrent.futures as cf, json, pathlib, re, subprocess, sys, tempfile
import numpy as np


class Failed(Exception):
    def __init__(self, p):
        lines = [l for l in p.stderr.splitlines() if "error[" in l] or p.stderr.splitlines() or [""]
        super().__init__(f"exit {p.returncode}: {lines[0][:300]}")
        self.rc = p.returncode
        self.lines = lines


def call(cmd):
    p = subprocess.run([str(c) for c in cmd], capture_output=True, text=True, errors="replace")
    if p.returncode:
        raise Failed(p)
    return p.stdout


def pins(a, model, d, folder):
    """--dim options for dimensions that the model leaves open: those of the first set of inputs."""
    shape = {i["name"]: np.load(folder / f"input{k}_0.npy", mmap_mode="r").shape for k, i in enumerate(d["inputs"])}
    dims, listing = [], subprocess.run([a.arenac, "check", "-q", *model], capture_output=True, text=True,
                                       errors="replace").stderr
    for at, name in re.findall(r"dimension (\d+) of input '([^']*)' .* is unknown", listing):
        label = re.search(r"--dim ([^\n]*)=N", listing[listing.index(f"dimension {at} of input '{name}'"):]).group(1)
        if name in shape:
            dims += ["--dim", f"{label}={shape[name][int(at)]}"]
    for name in re.findall(r"the number of dimensions of input '([^']*)' is unknown", listing):
        for at, n in enumerate(shape.get(name, ())):
            dims += ["--dim", f"{name}.{at}={n}"]
        if shape.get(name) == ():
            dims += ["--dim", f"{name}=scalar"]
    return list(dict.fromkeys(zip(dims[::2], dims[1::2])))


def code(a, model, to):
    call([a.arenac, "compile", "-q", *model, "--name", "m", "--weights", "blob", "--emit", "c", "-o", to])
    # Comments speak of the file: its name, its operators; lines are broken by the lengths of names. Functions are
    # numbered after its nodes, here in the order they come.
    seen = {}
    text = re.sub(r"(?s:/\*.*?\*/)|#include.*", "", to.read_text(errors="replace"))
    text = re.sub(r"\bm_[a-z0-9_]+_\d+\b", lambda m: seen.setdefault(m.group(), f"m_{len(seen)}"), text)
    return text.split(), to.with_suffix(".bin").read_bytes() if to.with_suffix(".bin").exists() else b""


def outputs(a, model, d, folder, out):
    inputs = sum((["--input", f"{k}={folder / f'input{k}_0.npy'}"] for k in range(len(d["inputs"]))), [])
    call([a.arenac, "run", *model, *inputs, "--output-dir", out, *(["--backend", a.backend] if a.backend else [])])
    return [np.load(out / f"{k}.npy") for k in range(len(d["outputs"]))]


def equal(x, y, to, quantised):
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}"
    if x.tobytes() == y.tobytes():
        return None
    if to == "ag":
        return "bits differ"
    far, most = np.nanmax(np.abs(x.astype(float) - y.astype(float))), np.nanmax(np.abs(x.astype(float)))
    return None if far <= (0.08 if quantised else 1e-5) * most + 1e-7 else f"{far:.3g} of {most:.3g}"


def one(a, mj):
    d, folder = json.loads(mj.read_text()), mj.parent
    name = f"{folder.parent.name}/{folder.name}"
    model = [folder / d["file"]] + ([folder / d["weights"]] if d.get("weights") else [])
    if d["format"].startswith("tf-") or d["format"] == "tf":
        model += ["--outputs", ",".join(o["name"] for o in d["outputs"])]
    with tempfile.TemporaryDirectory() as t:
        t = pathlib.Path(t)
        try:
            dims = [w for p in pins(a, model, d, folder) for w in p]
            if subprocess.run([a.arenac, "check", "-q", *model, *dims], capture_output=True).returncode == 8:
                return name, "unread", "the model itself is not supported"
            try:
                call([a.arenac, "convert", "-q", *model, *dims, "-o", t / f"m.{a.to}"])
            except Failed as e:
                if a.to != "onnx" or e.rc != 8:
                    raise
                return name, "not ONNX", f"{len(e.lines)}: " + "; ".join(l.split("]: ")[-1] for l in e.lines)[:400]
            if a.to == "ag":
                x, y = code(a, model + dims, t / "a.c"), code(a, [t / "m.ag"], t / "b.c")
                if x[1] != y[1]:
                    return name, "differs", "the weights"
                run = a.run or x[0] != y[0]  # of two plans that are as small either may be printed
            if a.to == "onnx" or run:
                quantised = a.to == "onnx" and "QuantizeLinear" in (t / "m.onnx").read_bytes().decode("latin1")
                x, y = outputs(a, model, d, folder, t / "x"), outputs(a, [t / f"m.{a.to}"], d, folder, t / "y")
                apart = [equal(*pair, a.to, quantised) for pair in zip(x, y)]
                far = [f"output {k}: {w}" for k, w in enumerate(apart) if w]
                if far:
                    return name, "differs", "; ".join(far)
                return name, "equal" if all(p.tobytes() == q.tobytes() for p, q in zip(x, y)) else "close", ""
            return name, "equal", ""
        except Failed as e:
            return name, "failed", str(e)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("paths", nargs="*")
    ap.add_argument("--arenac", required=True)
    ap.add_argument("--to", choices=["ag", "onnx"], default="ag")
    ap.add_argument("--backend")
    ap.add_argument("--run", action="store_true")
    ap.add_argument("--jobs", type=int, default=2)
    a = ap.parse_args()
    shared = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "models"
    todo = sorted({m for r in a.paths or [shared] for m in pathlib.Path(r).rglob("model.json")})
    tally = {}
    with cf.ThreadPoolExecutor(a.jobs) as pool:
        for name, verdict, why in pool.map(lambda m: one(a, m), todo):
            tally[verdict] = tally.get(verdict, 0) + 1
            print(f"{verdict:9} {name:44} {why}", flush=True)
    print(", ".join(f"{n} {v}" for v, n in sorted(tally.items())) or "no models")
    return 0 if todo and not tally.get("differs") and not tally.get("failed") else 1


if __name__ == "__main__":
    sys.exit(main())
