#!/usr/bin/env python3
"""Which models need which proof strategy: without it, arenac prove leaves a claim unproven.

    scripts/prove_needs.py                 the model of each row of prove/strategies.def needs that row's strategy
    scripts/prove_needs.py --models [PART] a table of all models here and the public ones whose path contains PART
    scripts/prove_needs.py --page          the table of docs/prover.md

Rows that name a case of tests/unit/prove/test_prove.c are checked there. Exit status: 1 if a row's model does not need
its strategy. Models that are not proven with all strategies are left out; a proof that takes longer than --timeout
without a strategy counts as one that needs it.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prove_models

ROOT = prove_models.ROOT
ROW = re.compile(r'^STRATEGY\((\w+), *"([^"]*)", *(\w+), *\w+, *(\w+), *"([^"]*)",\s+"([^"]*)",\s+"(.*)"\)$', re.M)
Strategy = collections.namedtuple("Strategy", "id name point function file needed_by proves")


def strategies():
    with open(os.path.join(ROOT, "prove", "strategies.def")) as f:
        text = f.read()
    rows = [Strategy(*r) for r in ROW.findall(text)]
    if len(rows) != text.count("\nSTRATEGY("):
        sys.exit("prove/strategies.def: a row cannot be read")
    return rows


def proven(o, args, without):
    """True, False, or None: no proof is possible, for a reason other than claims."""
    words = [o.arenac, "prove", *args, *(w for s in without for w in ("--without", s))]
    try:
        r = subprocess.run(words, text=True, capture_output=True, timeout=o.timeout, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return False if without else None
    return True if r.returncode == 0 else False if "[E0703]" in r.stderr or "[E0702]" in r.stderr else None


def check_rows(o, rows):
    """Prints the rows whose model does not need them; their number."""
    bad = 0
    for s in rows:
        args = s.needed_by.split()
        path = os.path.join(ROOT, "prove", s.file)
        if not os.path.exists(path) or not re.search(r"\b%s\(" % s.function, open(path).read()):
            fault = "%s does not define %s" % (s.file, s.function)
        elif not os.path.exists(os.path.join(ROOT, args[0])):
            continue  # a planted case
        elif proven(o, args, []) is not True:
            fault = "'%s' is not proven" % s.needed_by
        elif proven(o, args, [s.name]) is not False:
            fault = "'%s' is proven without it" % s.needed_by
        else:
            continue
        print("%s: %s" % (s.name, fault))
        bad += 1
    return bad


def table(o, rows):
    """Prints the strategies that each model needs on each target, and how many models need each strategy."""
    names = [s.name for s in rows]
    count = collections.Counter()
    shown = 0
    for name, args, shapes in prove_models.models():
        if o.models not in name:
            continue
        for t in o.targets.split(","):
            a = [*args, "-t", t, *o.options.split()]
            if shapes:
                r = subprocess.run([o.arenac, "prove", *a], text=True, capture_output=True, cwd=ROOT)
                a += prove_models.pins(r.stderr, shapes) if "[E0204]" in r.stderr else []
            if proven(o, a, []) is not True:
                continue
            shown += 1
            need = [n for n in names if proven(o, a, [n]) is False]
            count.update(need)
            print("%-44s %-16s %s" % (name, t, " ".join(need)), flush=True)
    print("\n%-16s %8s" % ("strategy", "proofs"))
    for n in names:
        print("%-16s %8d" % (n, count[n]))
    print("%-16s %8d" % ("of", shown))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    p.add_argument("--models", nargs="?", const="", metavar="PART")
    p.add_argument("--page", action="store_true")
    p.add_argument("--targets", default="generic,cortex-m4,cuda-sm75")
    p.add_argument("--options", default="")
    p.add_argument("--timeout", type=int, default=120)
    o = p.parse_args()
    o.arenac = os.path.abspath(o.arenac)
    rows = strategies()
    if o.page:
        for s in rows:
            print("| `%s` | %s | `prove/%s` | %s |" % (s.name, s.point, s.file, s.proves))
        return False
    if o.models is not None:
        table(o, rows)
    return check_rows(o, rows) > 0


if __name__ == "__main__":
    sys.exit(main())
