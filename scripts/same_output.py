#!/usr/bin/env python3
"""Builds two commits and compares their output for models: code, plans and reports must be equal byte for byte.

  same_output.py OLD [NEW] [--jobs N] [--models FOLDER]... [--only TEXT] [--ignore REGEX]... [--code]

OLD and NEW are commits, or existing arenac programs; NEW is by default the working tree. A model is a folder with a
model.json (../shared/models and its subfolders, unless --models names others) or a file of models/. Lines with the
version or the options are ignored, and so are those that match --ignore; texts reworded on purpose (REWORDED) count as
equal; of standard error only the exit status is compared. --code: also ignores comments of generated code, and does not
compare reports. Prints what differs; exit status 0 when nothing does. Needs Python 3 and what a build of arenac needs.
"""
import argparse, concurrent.futures as cf, difflib, filecmp, hashlib, json, os, pathlib, re, shutil, subprocess, sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

REPORTS = "json,csv,problem,lock,md,dot,svg,html"
# Name, the verb with its options; the output stem is added.
CALLS = [
    ("plan", ["plan", "-vv", "--emit", REPORTS]),
    ("plan_tflite", ["plan", "--reference", "tflite", "--emit", "csv,json"]),
    ("plan_search", ["plan", "--schedule", "search", "--recompute", "--emit", "csv,json"]),
    ("plan_stripe", ["plan", "--stripe", "auto", "--emit", "csv,json,lock,ag,loops", "-t", "cortex-m4"]),
    ("plan_rows", ["plan", "--io", "rows", "--emit", "csv,json"]),
    ("plan_align", ["plan", "--align", "4", "--overlap", "on", "--preserve", "input", "--emit", "csv,md"]),
    ("generic", ["compile", "--emit", "c,h", "--weights", "blob"]),
    ("generic_overlap", ["compile", "--emit", "c,h", "--weights", "blob", "--overlap", "on", "--poison", "--host"]),
    ("v4", ["compile", "--emit", "c,h", "--weights", "blob", "-t", "x86-64-v4-vnni"]),
    ("v3_threads", ["compile", "--emit", "c,h", "--weights", "blob", "-t", "x86-64-v3", "--threads", "2",
                    "--winograd"]),
    ("neon", ["compile", "--emit", "ll", "--weights", "blob", "-t", "aarch64-dotprod"]),
    ("m55", ["compile", "--emit", "c", "--weights", "blob", "-t", "cortex-m55", "--share-kernels"]),
    ("m4_stripe", ["compile", "--emit", "c,h", "--weights", "blob", "-t", "cortex-m4", "--stripe", "auto"]),
    ("cuda", ["compile", "--emit", "cu,h", "-t", "cuda-sm80"]),
    ("llvm", ["compile", "--emit", "ll", "--weights", "blob", "-t", "x86-64-v4-vnni"]),
    ("show", ["show", "-v"]),
]
PLAIN = [r"arenac \d+\.\d+\.\d+", r"^ \* options: ", r'"version"', r'"options"', r'"ms":', r"Built target", r" ms\b",
         r"^ +m\.(html|json) +[\d,]+ B"]
# Texts that changed since 0.1.0: the name of a strategy, and comments of generated code.
REWORDED = [
    ("shake  ", "perturb"),
    ("shake", "perturb"),
    ("/* parts that a step may be cut into", "/* chunks that a step may be cut into"),
    ("or of the .ptx with a zero behind them;", "or of the .ptx, followed by a zero;"),
    # Since 0.2.0: reductions.def.
    ("results take the place of operands", "let results replace operands in place"),
    ("results start inside operands that die", "let results reuse operands that are being consumed"),
    ("another order of the steps", "run the steps in another order"),
    ("cheap results are computed again", "recompute inexpensive results"),
    ("results are dropped and computed again", "drop results and recompute them"),
    ("the caller hands over the input row by row", "stream the input row by row"),
    ("rows instead of whole tensors", "run row by row instead of on whole tensors"),
    ("no input can be handed over by rows, since", "no input can be streamed by rows, since"),
]
# Calls that try several plans: 0.1.0 gave what the strategies reached for the last one, not for the one that it kept.
TRIED = ("plan_search", "plan_stripe", "plan_rows", "m4_stripe")
# Sentences of the text report that were wrong: what each strategy reached, see above; that --io rows could be helped by
# the --stripe auto that it implies; and, of -vv, that pass infer pins dimensions, which the driver does before it.
STRATEGIES = r"(?<=Found by )\w+\. .*"
PINNED = r"^  infer +\d+ changed$"
IMPLIED = r"^ +--stripe auto +(run row by row|rows) instead of( on)? whole tensors$"


def build(what, folder):
    """The program of a commit, of the working tree (None), or as it is."""
    if what and pathlib.Path(what).is_file():
        return pathlib.Path(what).resolve()
    tree = ROOT
    if what:
        tree = folder / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", tree, what], check=True)
    made = folder / "build"
    for command in (["cmake", "-S", tree, "-B", made, "-DBUILD_TESTING=OFF"],
                    ["cmake", "--build", made, "-j", str(os.cpu_count())]):
        p = subprocess.run(command, capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"{what or 'the working tree'} does not build:\n{p.stdout[-2000:]}{p.stderr[-2000:]}")
    if what:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree])
    return made / "arenac"


def of_json(path):
    d = json.loads(path.read_text())
    args = [path.parent / d["file"]] + ([path.parent / d["weights"]] if d.get("weights") else [])
    if d["format"] == "tf" or d["format"].startswith("tf-"):
        args += ["--outputs", ",".join(o["name"] for o in d["outputs"])]
    args += [x.replace("{dir}", str(path.parent)) for x in d.get("args", [])]
    for i in d["inputs"]:
        said = i.get("declared_shape", i["shape"])
        args += sum((["--dim", f"{i['name']}.{k}={n}"] for k, n in enumerate(i["shape"])
                     if d["format"] == "mxnet" or not isinstance(said[k], int)), [])
        if not i["shape"] and d["format"].startswith("tf") and d["format"] != "tflite":
            args += ["--dim", f"{i['name']}=scalar"]
    return f"{path.parent.parent.name}/{path.parent.name}", [str(a) for a in args]


def models(folders):
    shared = ROOT.parent / "shared" / "models"
    for folder in folders or ([shared] if shared.is_dir() else []):
        for path in sorted(pathlib.Path(folder).rglob("model.json")):
            yield of_json(path)
    for path in sorted((ROOT / "models").glob("*")):
        if path.suffix in (".tflite", ".ag", ".onnx", ".pb", ".pbtxt"):
            yield f"models/{path.name}", [str(path)]


def call(arenac, args, model, out):
    """Everything that one call writes, by file name; standard output and errors too."""
    out.mkdir(parents=True)
    stem = [] if args[0] == "show" else ["-o", "m"]
    more = [] if args[0] == "show" or "--name" in args else ["--name", "m"] if args[0] == "compile" else []
    p = subprocess.run([arenac, *args, *model, *more, *stem], cwd=out, capture_output=True, timeout=900)
    (out / "stdout").write_bytes(p.stdout)
    (out / "stderr").write_bytes(p.stderr + f"\nexit {p.returncode}\n".encode())


def reworded(line):
    for was, now in REWORDED:
        line = line.replace(was, now)
    return line


def clean(path, a, kind, old):
    text = path.read_bytes()
    if path.suffix in (".bin", ".npy"):
        return [hashlib.sha256(text).hexdigest()]
    text = text.decode(errors="replace")
    if a.code and path.suffix in (".c", ".h", ".cu"):
        text = re.sub(r"(?s)/\*.*?\*/", "", text)
    if path.name == "stderr":
        return text.splitlines()[-1:]
    if path.name == "stdout":
        text = text.replace("\n        ", " ")  # wrapped lines of the report
    if kind in TRIED:
        text = re.sub(STRATEGIES, "", re.sub(r'(?s)"strategies": \[.*?\]', "", text))
    drop = re.compile("|".join([*PLAIN, *a.ignore, PINNED, IMPLIED]))
    lines = [line for line in text.splitlines() if not drop.search(line)]
    return [reworded(line) for line in lines] if old else lines


def compare(job):
    a, (name, model), (kind, args) = job
    with tempfile.TemporaryDirectory() as tmp:
        tmp = pathlib.Path(tmp)
        for side, arenac in (("old", a.programs[0]), ("new", a.programs[1])):
            try:
                call(arenac, args, model, tmp / side)
            except subprocess.TimeoutExpired:
                return name, kind, ["takes more than 900 s"]
        files = sorted(p.name for p in (tmp / "old").iterdir())
        if files != sorted(p.name for p in (tmp / "new").iterdir()):
            return name, kind, [f"other files: {files} and {sorted(p.name for p in (tmp / 'new').iterdir())}"]
        if a.code:
            files = [f for f in files if f.endswith((".c", ".h", ".cu", ".ll", ".csv", ".lock", ".bin"))]
        for f in files:
            if filecmp.cmp(tmp / "old" / f, tmp / "new" / f, shallow=False):
                continue
            old, new = clean(tmp / "old" / f, a, kind, True), clean(tmp / "new" / f, a, kind, False)
            if old != new:
                return name, kind, list(difflib.unified_diff(old, new, f"old/{f}", f"new/{f}", lineterm="", n=0))[:12]
        a.made[kind] += b"\nexit 0\n" in (tmp / "old" / "stderr").read_bytes()
    return name, kind, []


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("old")
    p.add_argument("new", nargs="?")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--models", action="append", default=[])
    p.add_argument("--only", default="")
    p.add_argument("--ignore", action="append", default=[])
    p.add_argument("--code", action="store_true")
    a = p.parse_args()
    tmp = pathlib.Path(tempfile.mkdtemp())
    try:
        a.programs = [build(what, tmp / side) for what, side in ((a.old, "old"), (a.new, "new"))]
        todo = [(a, m, c) for m in models(a.models) if a.only in m[0] for c in CALLS]
        bad, a.made = 0, dict.fromkeys((kind for kind, _ in CALLS), 0)
        with cf.ThreadPoolExecutor(a.jobs) as pool:
            for name, kind, lines in pool.map(compare, todo):
                if lines:
                    bad += 1
                    print(f"DIFFERS {name} {kind}\n  " + "\n  ".join(line[:200] for line in lines), flush=True)
        print("calls without an error: " + ", ".join(f"{kind} {n}" for kind, n in a.made.items()))
        print(f"{len(todo)} calls on {len(todo) // len(CALLS)} models: {bad} differ")
        return 1 if bad or 0 in a.made.values() else 0
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "prune"])


if __name__ == "__main__":
    sys.exit(main())
