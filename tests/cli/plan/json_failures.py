"""json_failures.py - every verb that takes --json, times every kind of failure: one document on standard output that
follows the schema, with an error in it unless the exit status is another verdict. usage: json_failures.py ARENAC
SOURCE_DIR"""
import json
import os
import re
import subprocess
import sys

import schema

ARENAC, SOURCE = sys.argv[1:]
MODEL = f"{SOURCE}/models/digits_int8.tflite"
VERDICTS = {4, 5, 6}  # the document of the verb says it: over the budget, other values, another plan; of prove all
ROOT = json.load(open(f"{SOURCE}/docs/arenac.schema.json", encoding="utf-8"))
wrong = calls = failures = 0


def help_of(verb):
    return subprocess.run([ARENAC, verb, "--help-all"], capture_output=True, text=True, check=True).stdout


def takes(verb, option):
    return re.search(rf"^ .*--{option}\b", help_of(verb), re.M) is not None


def document(out):
    doc = json.loads(out)
    return doc, schema.faults(doc, ROOT, ROOT) if "schema" in doc else []


def call(words, status=None, **env):
    """One command; status: its expected exit status, if given."""
    global wrong, calls, failures
    calls += 1
    p = subprocess.run([ARENAC, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, **env}, check=False)
    failures += p.returncode != 0
    why = f"exit {p.returncode}, wanted {status}" if status not in (None, p.returncode) else None
    try:
        doc, faults = document(p.stdout)
        why = why or (faults[0] if faults else None)
        if p.returncode and p.returncode not in VERDICTS and doc.get("schema") != "arenac-prove/1" and not any(
                d["severity"] == "error" for d in doc.get("diagnostics", [])):
            why = why or "no error in the document"
    except ValueError as e:
        why = why or f"{e}: {p.stdout[:60]!r}"
    if why:
        wrong += 1
        print(f"FAILED ({why}): arenac {' '.join(words)}\n{p.stderr}")


def files():
    """Models that fail at reading, at checking and at nothing."""
    data = open(MODEL, "rb").read()
    open("cut.tflite", "wb").write(data[:len(data) // 2])
    open("empty.tflite", "wb").close()
    open("text.ag", "w", encoding="utf-8").write("graph wrong {\n")
    open("bad.lock", "w", encoding="utf-8").write("arenac-lock 1\nnonsense\n")
    open("bad.npy", "w", encoding="utf-8").write("no array\n")
    return ["nosuch.tflite", "cut.tflite", "empty.tflite", "text.ag", ".", "bad.lock"]


# Options that fail by themselves, before the model is read or after; a verb gets those that it takes.
WORDS = ["--nosuch", "--target nosuch", "--target cuda-sm90", "--from nosuch", "--from onnx", "--outputs nosuch",
         "--budget 10X", "--budget 100", "--budget nosuch=1K", "--dim nosuch=1", "--bound nosuch=1", "--align 24",
         "--align 0", "--pin nosuch=arena", "--pin nosuch=nosuch", "--mem a:1,fast", "--mem a",
         "--const nosuch=bad.npy", "--const 0=bad.npy", "--const 0=nosuch.npy", "--state nosuch=nosuch",
         "--planner nosuch", "--effort 10",
         "--reference nosuch", "--stripe 7-900", "--stripe nosuch", "--threads 1000", "--lock nosuch.lock",
         "--lock bad.lock", "--update-lock", "--max-memory 1K", "--max-memory 100K", "--skip nosuch", "--emit nosuch",
         "--emit ptx", "--emit tflm-buffer-plan,nosuch", "--output nosuch/nosuch", "--tuned nosuch.tune",
         "--backend nosuch", "--backend cuda", "--input 0=nosuch.npy", "--input 0=bad.npy", "--input nosuch=bad.npy",
         "--compare 0=nosuch.npy", "--compare nosuch=bad.npy", "--output-dir bad.npy/x", "--random x", "--runs 0",
         "--evidence bad.npy/x", "--depfile nosuch/d", "--plugin nosuch.so", "--config nosuch.conf", "--section x=y",
         "--share exclusive", "--train nosuch", "--train sgd", "--loss nosuch", "--taps nosuch", "--loops nosuch",
         "--float-storage nosuch", "--winograd 3", "--io rows"]
# Failures of single verbs, or only with a model: exit status and words.
LATE = [(2, f"run {MODEL}", {}), (3, f"run {MODEL} --random 1", {"CC": "false"}),
        (3, f"bench {MODEL} --runs 1", {"CC": "false"}), (3, f"bench {MODEL} -t cortex-m4", {"PATH": "/nonexistent"}),
        (2, f"bench {MODEL} --runs 1 --per-op -t cuda-sm90", {}),
        (5, f"run {MODEL} --random 1 --backend eval --compare 0={SOURCE}/models/digits_int8.out0.1.npy", {}),
        (4, f"compile {MODEL} --budget 100 -o x.c", {}), (4, f"plan {MODEL} --budget 100", {}),
        (4, f"compile --share exclusive {MODEL} {SOURCE}/models/branch_f32.tflite --budget 100 -o x.c", {}),
        (3, f"compile {MODEL} -o nosuch/x.c", {}), (3, f"plan {MODEL} --emit csv -o nosuch/x.csv", {}),
        (2, f"diff {MODEL}", {}), (7, "verify unsafe.csv", {}), (2, "ops nosuch", {}), (2, "verify", {})]


def main():
    models = files()
    open("unsafe.csv", "w", encoding="utf-8").write("id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n")
    overview = subprocess.run([ARENAC, "help"], capture_output=True, text=True, check=True).stdout
    verbs = [v for v in re.findall(r"^  arenac ([a-z]+) ", overview, re.M) if takes(v, "json")]
    assert len(verbs) >= 11, verbs
    for verb in verbs:
        known = help_of(verb)
        ready = {"run": ["--random", "1", "--backend", "eval"], "bench": ["--runs", "1"]}.get(verb, [])
        call([verb, "--json"])
        for m in models:
            call([verb, m, "--json"] + ([MODEL] if verb == "diff" else []))
        for w in WORDS:
            if w == "--nosuch" or re.search(rf"{w.split()[0]}\b", known):
                call([verb, MODEL, *ready, *w.split(), "--json"])
    for status, words, env in LATE:
        call(words.split() + ["--json"], status, **env)
    print(f"{len(verbs)} verbs, {calls} commands, {failures} of them failed, {wrong} without their document")
    sys.exit(wrong > 0)


main()
