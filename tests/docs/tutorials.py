"""tutorials.py - follows docs/tutorial-*.md, and other pages that begin by copying an example: the commands of each
page run in order, in one shell that ends at the first failure; their output contains the lines that the page shows; the
C that it shows is in the files of its example.
usage: tutorials.py ARENAC SOURCE_DIR FOLDER PAGE PYTHON. Exit 1: something failed.

Blocks: sh: commands. Without a language: lines of the output (blanks do not count). Others: lines that follow one
another in a file of the folder.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

arenac, source, folder = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
page = sys.argv[4]
python = shutil.which(sys.argv[5])  # whole: the folder of its link comes first in PATH
text = (source / "docs" / f"{page}.md").read_text(encoding="utf-8")
blocks = re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.M | re.S)
at = folder / page
bins = folder / "bin"
at.mkdir()
bins.mkdir(exist_ok=True)
for name in "examples", "models":
    if not (folder / name).exists():
        os.symlink(source / name, folder / name)
for name, to in ("arenac", arenac), ("arenac-certcheck", arenac.parent / "arenac-certcheck"):
    if not (bins / name).exists():
        os.symlink(to, bins / name)
if not (bins / "python3").exists():  # one that finds its own modules, which a link would not
    (bins / "python3").write_text(f'#!/bin/sh\nexec "{python}" "$@"\n', encoding="utf-8")
    (bins / "python3").chmod(0o755)
script = "set -e\n" + "".join(body + "echo\n" for language, body in blocks if language == "sh")
run = subprocess.run(["sh", "-c", script], cwd=at, capture_output=True, text=True, check=False, timeout=500,
                     env={**os.environ, "PATH": f"{bins}:{os.environ['PATH']}"})
wrong = []
if run.returncode:
    wrong.append(f"the commands end with {run.returncode}")
said = {" ".join(line.split()) for line in (run.stdout + run.stderr).splitlines()}
shown = 0
for language, body in blocks:
    if language == "sh":
        continue
    shown += 1
    if language:
        plain = "\n".join(line.strip() for line in body.strip().splitlines())
        files = [f.read_text(encoding="utf-8", errors="replace") for f in at.iterdir() if f.is_file()]
        if not any(plain in "\n".join(line.strip() for line in f.splitlines()) for f in files):
            wrong.append(f"no file has what is shown:\n{body}")
        continue
    for line in body.splitlines():
        if not any(s.startswith(" ".join(line.split())) for s in said):
            wrong.append(f"not in the output: {line}")
if shown < 2:
    wrong.append("few blocks were found: the check itself is broken")
if wrong:
    print(f"{page}:", *wrong, run.stdout[-3000:], run.stderr[-3000:], sep="\n")
sys.exit(1 if wrong else 0)
