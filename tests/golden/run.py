#!/usr/bin/env python3
"""run.py - compares examples with the output of arenac.

    run.py ARENAC [--accept | --stop] [AREA | AREA/NAME | AREA/NAME.MODE]...

AREA/NAME.MODE is the output of arenac for the input in the same folder, NAME.ag or another format: the suffix selects
the kind of output. NAME.WORD.MODE is the same with more options. Lines "# arenac: -t cortex-m4" and "# arenac WORD:
--align 4" of the input, or of NAME.cmd in the same folder, give options and, as the first word, another verb. Commands
run in the folder AREA, which contains companion files. NAME.py is a program that writes the input into its current
folder, where the command then runs. --accept rewrites the expectations, and creates named ones that do not exist. Lines
with the version are ignored. --stop: the first that fails ends it."""
import difflib, os, pathlib, re, shlex, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODES = {"plan": "plan -q --emit lock -o -", "problem": "plan -q --emit problem -o -", "report": "plan",
         "json": "plan -q --json", "md": "plan -q --emit md -o -", "svg": "plan -q --emit svg -o -",
         "dot": "plan -q --emit dot -o -", "loops": "compile -q --emit loops -o -", "c": "compile -q --emit c -o -",
         "h": "compile -q --emit h -o -", "cu": "compile -q --emit cu -o -", "graph": "check -q", "err": "plan",
         "out": "show"}
LEFT_OUT = re.compile(r'.*\barenac \d+\.\d+\.\d+|\s*"version": "\d')


def is_input(f):
    return f.suffix[1:] not in MODES or f.name.endswith("-symbol.json")  # MXNet's name for its models


def command(expected):
    """The input of an expectation, or None, and the words of the command line: the verb first."""
    stem, *word, mode = expected.name.split(".")
    beside = [f for f in sorted(expected.parent.glob(stem + ".*")) if is_input(f) and f != expected]
    words = MODES[mode].split()
    for line in "\n".join(f.read_text("utf-8", "replace") for f in beside).splitlines():
        m = re.match(r"\W*arenac( [\w-]+)?: (.*)", line)
        if m and (not m[1] or [m[1].strip()] == word):
            more = shlex.split(m[2])
            if re.fullmatch("[a-z]+", more[0]):
                words[0] = more.pop(0)
            words += more
    return next((f for f in beside if f.suffix != ".cmd"), None), words


def ask(arenac, expected):
    """The output of arenac, whether it may be accepted, and the command line. Errors include the exit status, and so do
    other outputs if it is not 0."""
    source, words = command(expected)
    mode, folder, name = expected.suffix[1:], expected.parent, source and source.name
    with tempfile.TemporaryDirectory() as made:
        if source and source.suffix == ".py":
            path = "%s:%s" % (HERE, HERE.parent.parent / "models")
            env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run([sys.executable, source], cwd=made, env=env, check=True)
            folder, name = made, None if set(os.listdir(made)) & set(words) else sorted(os.listdir(made))[0]
        words[1:1] = [name] if name and name not in words else []
        p = subprocess.run([arenac, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    out, err = (s.decode("utf-8", "surrogateescape") for s in (p.stdout, p.stderr))
    text = out if mode != "err" else ""
    text += err + "exit %d\n" % p.returncode if mode == "err" or p.returncode else ""
    text = "".join(s for s in text.splitlines(True) if not LEFT_OUT.match(s))
    return text, p.returncode == 0 or mode in ("err", "out"), shlex.join(words)


def main():
    accept, stop = "--accept" in sys.argv, "--stop" in sys.argv
    words = [a for a in sys.argv[1:] if a not in ("--accept", "--stop")]
    arenac, chosen = os.path.abspath(words[0]), words[1:] or ["*"]
    found = [f for c in chosen for f in ([HERE / c] if "." in c else [*HERE.glob(c + "/*"), *HERE.glob(c + ".*")])]
    expectations = sorted({f for f in found if f.suffix[1:] in MODES and not is_input(f)})
    failed = 0
    for f in expectations:
        got, good, line = ask(arenac, f)
        want = f.read_bytes().decode("utf-8", "surrogateescape") if f.exists() else ""
        if good and accept and got != want:
            f.write_bytes(got.encode("utf-8", "surrogateescape"))
        elif not good or got != want:
            failed += 1
            name = str(f.relative_to(HERE))
            diff = difflib.unified_diff(want.splitlines(True), got.splitlines(True), name, "arenac " + line)
            text = "".join(s if s.endswith("\n") else s + "\n" for s in diff) + "FAILED: %s\n" % name
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            if stop:
                return 1
    print("%d passed, %d failed" % (len(expectations) - failed, failed))
    return failed > 0 or not expectations


sys.exit(main())
