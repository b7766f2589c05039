"""snippets.py - runs the examples of README.md and docs/: every fenced block of a language is a command that works, a
graph
that is read, Python that ends well, or C that compiles; or not_run.txt in this folder has the reason. usage:
snippets.py ARENAC SOURCE_DIR FOLDER. Prints failures and then exits with 1.

python: with the package of python/ (without NumPy it is left out).
sh: line by line, in a folder for each page with sample models under the names that the pages use; a comment "exit N"
allows that status as well. ag: arenac check. c: compiled against the header of a sample, whole or inside a function.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

arenac, source, folder = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
models = source / "models"
NUMPY = importlib.util.find_spec("numpy") is not None
LLVM = (arenac.parent / "arenac-llvm.so").exists()
wrong = []


def tool(*args, cwd):
    r = subprocess.run([str(arenac), *map(str, args)], cwd=cwd, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"a sample is not made: {args}: {r.stderr}")


NET = """graph net {
  input x: f32[1,8,8,1]
  const c: f32[8,3,3,1] = random 1 (-0.5, 0.5)
  const b: f32[8] = splat 0
  const dense_w: f32[10,512] = random 2 (-0.1, 0.1)
  const dense_b: f32[10] = splat 0
  a = conv_2d(x, c, b) padding=same act=relu
  f = reshape(a) shape=[1,512]
  y = fully_connected(f, dense_w, dense_b)
  output y
}
"""


def labels(*of):
    """An .npy of i32."""
    head = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(of)
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(of)}i", *of)


def samples():
    """The files that the pages name, once; each page gets a copy."""
    at = folder / "samples"
    at.mkdir()
    for name in "kws", "net", "a", "b":
        shutil.copy(models / "digits_int8.tflite", at / f"{name}.tflite")
    shutil.copy(models / "digits_f32.tflite", at / "model.tflite")
    shutil.copy(models / "digits_f32.in0.0.npy", at / "x.npy")
    (at / "y.npy").write_bytes(labels(3))
    digits = folder / "digits"
    digits.mkdir()
    script = pathlib.Path(__file__).parent.parent / "cli/quant/quantize_samples.py"
    subprocess.run([sys.executable, str(script), str(models)], cwd=digits, check=True)
    shutil.copy(digits / "x.npz", at / "samples.npz")
    shutil.copy(digits / "y.npy", at / "labels.npy")
    (at / "net.ag").write_text(NET, encoding="utf-8")
    tool("convert", "net.ag", "model.onnx", cwd=at)
    for end in "prototxt", "caffemodel":
        shutil.copy(models / f"squares.{end}", at / f"net.{end}")
    tool("plan", "-q", "kws.tflite", "--emit", "problem", "-o", "problem.csv", cwd=at)
    os.symlink(models, at / "models")
    return at


def not_run():
    """Rows of not_run.txt: page, beginning of a line or of a block's first line, why."""
    rows = {}
    for line in (pathlib.Path(__file__).parent / "not_run.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            page, begin, why = (f.strip() for f in line.split(" | "))
            rows[page, begin] = why
    return rows


ROWS, USED = not_run(), set()


def excused(page, line):
    for name, begin in ROWS:
        if name == page and line.startswith(begin):
            USED.add((name, begin))
            return True
    return False


def shell(page, text, at):
    bins = folder / "bin"
    env = {**os.environ, "PATH": f"{bins}:{os.environ['PATH']}"}
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip() or line.lstrip().startswith("#") or excused(page, line):
            continue
        command = line.replace("build/arenac ", "arenac ")
        r = subprocess.run(["sh", "-c", command], cwd=at, env=env, capture_output=True, text=True, check=False)
        allowed = {0} | {int(n) for n in re.findall(r"# .*exit (\d)", line)}
        if r.returncode == 8 and not LLVM and "llvm" in r.stderr.lower():
            continue
        if r.returncode not in allowed:
            wrong.append(f"{page}: exit {r.returncode}: {line}\n{r.stdout}{r.stderr}")


def console(page, text, at):
    """Commands after "$ "; the lines below them are in the output, but for lines with "..."."""
    if excused(page, text.splitlines()[0]):
        return
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command, *shown = text.splitlines()
    r = subprocess.run(["sh", "-c", command.removeprefix("$ ")], cwd=at, env=env, capture_output=True, text=True)
    if r.returncode:
        wrong.append(f"{page}: exit {r.returncode}: {command}\n{r.stderr}")
    for line in shown:
        if line.strip() and "..." not in line and line.strip() not in r.stdout + r.stderr:
            wrong.append(f"{page}: not in the output of {command[2:]}: {line}\n{r.stdout}{r.stderr}")


def graph(page, text, at):
    if excused(page, next(line for line in text.splitlines() if line.startswith("graph"))):
        return
    (at / "shown.ag").write_text(text, encoding="utf-8")
    dim = ["--dim", "n=4"] if "[n," in text else []
    r = subprocess.run([arenac, "check", "shown.ag", *dim], cwd=at, capture_output=True, text=True)
    if r.returncode:
        wrong.append(f"{page}: the graph is not read:\n{r.stderr}\n{text}")


def python(page, text, at):
    if excused(page, text.splitlines()[0]):
        return
    if not NUMPY:
        print("skipped: NumPy is missing: install python3-numpy")
        return
    env = {**os.environ, "PYTHONPATH": str(source / "python"), "ARENAC": str(arenac)}
    r = subprocess.run([sys.executable, "-"], input=text, cwd=at, env=env, capture_output=True, text=True, check=False)
    if r.returncode:
        wrong.append(f"{page}: exit {r.returncode}:\n{text}{r.stdout}{r.stderr}")


def c(page, text, at):
    """Whole when it has a function; else the body of one."""
    if excused(page, text.splitlines()[0]):
        return
    found = re.search(r"\b([a-z]\w*)_(?:mem|memory|init)\b", text)
    if not found:
        wrong.append(f"{page}: C of no model that nothing compiles: {text.splitlines()[0]}")
        return
    name = found.group(1)
    kind = "make" if f"{name}_memory.h" in text else "c,h"
    make = ["compile", "kws.tflite", "-q", "--name", name, "--emit", kind, "-o",
            name if kind == "make" else f"{name}.c"]
    if f"{name.upper()}_DTCM_BYTES" in text:
        make += ["--mem", "dtcm:64K,fast", "--mem", "psram:8M,slow"]
    tool(*make, cwd=at)
    if not re.search(r"^\w[^;=]*\)\n\{", text, re.M):
        text = f"int shown(void);\nint shown(void)\n{{\n{text}\n    return {name}_run(&mem);\n}}\n"
    if "#include \"" not in text:
        text = f"#include \"{name}.h\"\n{text}"
    (at / "shown.c").write_text(text, encoding="utf-8")
    for std in "c99", "c11":
        compiler = [os.environ.get("CC", "cc"), f"-std={std}", "-Wall", "-Wextra", "-Werror", "-I.",
                    f"-I{name}/include", "-fsyntax-only", "shown.c"]
        r = subprocess.run(compiler, cwd=at, capture_output=True, text=True)
        if r.returncode:
            wrong.append(f"{page}: {r.stderr}")


RUN = {"sh": shell, "console": console, "python": python, "ag": graph, "c": c}

bins = folder / "bin"
bins.mkdir()
os.symlink(arenac, bins / "arenac")
if (arenac.parent / "arenac-certcheck").exists():
    os.symlink(arenac.parent / "arenac-certcheck", bins / "arenac-certcheck")
given = samples()
blocks = 0
for path in [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]:
    if "\ncp ../examples/" in path.read_text(encoding="utf-8"):  # followed from beginning to end by tutorials.py
        continue
    page = str(path.relative_to(source))
    at = folder / page.replace("/", "_")
    shutil.copytree(given, at, symlinks=True)
    for language, text in re.findall(r"^```([a-z]*)[^\n]*\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S):
        blocks += 1
        if language in RUN:
            RUN[language](page, text, at)
        elif language and not excused(page, text.splitlines()[0]):
            wrong.append(f"{page}: a block of {language} that nothing runs: {text.splitlines()[0]}")
for row in ROWS:
    if row not in USED:
        wrong.append(f"not_run.txt: {row[0]} has no line that begins with '{row[1]}'")
if blocks < 90:
    wrong.append(f"only {blocks} blocks were found: the check itself is broken")
print(*wrong, sep="\n")
print(f"{blocks} blocks, {len(ROWS)} that are not run, {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
