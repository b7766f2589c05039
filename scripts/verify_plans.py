#!/usr/bin/env python3
"""Plans every public instance and generated ones, and checks each plan with a checker that shares nothing with arenac.

    scripts/verify_plans.py                       all stored instances; 6 families, 5 seeds, 100 to 100,000 items
    scripts/verify_plans.py --large               and 1,000,000 items of each family (minutes, 2 GB)
    scripts/verify_plans.py --only net- --no-generated

A plan is accepted when verify_plan.py of the shared folder accepts it and prints the arena that arenac claims. If
arenac reports "optimal" without meeting the lower bound, arenac-certcheck must replay its certificate. Prints one line
for each refusal and a summary; exit status: 1 if anything was refused. Without the shared folder, reports that and
exits with 0."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAMILIES = ("cut", "pinwheel", "resnet", "cells", "trace", "align")
SIZES = (100, 1000, 10000, 100000)


def judge(o, file, tmp):
    """'' or why the plan of `file` is refused; whether a certificate was replayed."""
    plan, cert = os.path.join(tmp, "plan.csv"), os.path.join(tmp, "proof.cert")
    made = subprocess.run([o.arenac, "plan", file, "--json", "--emit", "csv", "-o", plan], capture_output=True,
                          text=True)
    if made.returncode:
        return "arenac ends with %d: %s" % (made.returncode, made.stderr.strip()), False
    d = json.loads(made.stdout)["plan"]
    checker = os.path.join(o.shared, "planning", "verify_plan.py")
    seen = subprocess.run([sys.executable, checker, file, plan], capture_output=True, text=True)
    if seen.returncode:
        return "refused: " + (seen.stdout + seen.stderr).strip()[:200], False
    if str(d["arena_bytes"]) not in seen.stdout.replace(",", ""):
        return "arenac claims %d bytes, the checker says: %s" % (d["arena_bytes"], seen.stdout.strip()[:200]), False
    if not d["optimal"]:
        return "", False
    said = subprocess.run([o.arenac, "plan", file, "-q", "--emit", "certificate", "-o", cert], capture_output=True,
                          text=True)
    if said.returncode == 8:
        return "", False  # the bound proves it
    replay = subprocess.run([o.certcheck, file, cert], capture_output=True, text=True)
    if replay.returncode:
        return "certificate refused: " + (replay.stdout + replay.stderr).strip()[:200], False
    return "", True


def instances(o, tmp):
    for f in sorted(glob.glob(os.path.join(o.shared, "planning", "*.csv"))):
        if o.only in os.path.basename(f):
            yield os.path.basename(f), f
    generator = os.path.join(o.shared, "planning", "gen_instances.py")
    for n in () if o.no_generated else SIZES + ((1000000,) if o.large else ()):
        for family in FAMILIES:
            for seed in range(1, 6) if n < 1000000 else (1,):
                name = "%s-%d-%d" % (family, n, seed)
                if o.only not in name:
                    continue
                made = os.path.join(tmp, "made.csv")
                with open(made, "w") as out:
                    subprocess.run([sys.executable, generator, family, str(n), str(seed)], stdout=out, check=True)
                yield name, made


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--certcheck", default=os.path.join(ROOT, "build", "arenac-certcheck"))
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--only", default="", help="names that contain this")
    ap.add_argument("--large", action="store_true")
    ap.add_argument("--no-generated", action="store_true")
    o = ap.parse_args()
    if not os.path.isdir(os.path.join(o.shared, "planning")):
        print("no shared/planning beside the checkout: nothing to verify")
        return 0
    n = refused = replayed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for name, file in instances(o, tmp):
            why, cert = judge(o, file, tmp)
            n += 1
            replayed += cert
            refused += bool(why)
            if why:
                print("%s: %s" % (name, why), flush=True)
    print("%d plans, %d refused; %d certificates replayed" % (n, refused, replayed))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
