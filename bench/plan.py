#!/usr/bin/env python3
"""Arena sizes and speed of the planner, on public instances and on generated ones.

    bench/plan.py                          every group below
    bench/plan.py --only budget,net        some of them
    bench/plan.py --markdown table.md      also as a table

groups: budget   MiniMalloc's A..K against a capacity: fits, user seconds
        open     D and J minimised: the remaining interval perfect cut-250 and pinwheel-250, whose optimum is the bound
                 by construction
        net      lifetimes of real models: at the bound, or optimal with a certificate that the replayer accepts
        quick    A..K by heuristics alone (--effort 0)
        scale    100 k and 1 M items; user seconds and peak memory
        family   every other instance of the folder: never worse than one strategy of the portfolio

Every plan is checked by the folder's own checker (verify_plan.py), which shares nothing with arenac; --trust skips it
for the million-item plans, where it takes minutes. Instances and generator are those of the shared folder beside the
checkout; without it there is nothing to measure, and the script says so and ends with 0. Exit status: the number of
misses."""
import argparse
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
GROUPS = ("budget", "open", "perfect", "net", "quick", "scale", "family")
LETTERS = "ABCDEFGHIJK"
CAPACITY = dict({x: 1048576 for x in LETTERS}, C=1039360)


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    ap.add_argument("--certcheck", help="default: arenac-certcheck beside arenac")
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    ap.add_argument("--effort", default="7", help="for the group 'open' (default 7)")
    ap.add_argument("--trust", action="store_true", help="do not run the checker on plans of a million items")
    ap.add_argument("--markdown", metavar="FILE")
    return ap.parse_args()


class Bench:
    def __init__(self, o):
        self.o = o
        self.data = os.path.join(o.shared, "planning")
        self.tmp = tempfile.TemporaryDirectory()
        self.rows = []  # text, result, target, pass
        self.certcheck = o.certcheck or os.path.join(os.path.dirname(o.arenac), "arenac-certcheck")

    def path(self, name):
        return os.path.join(self.tmp.name, name)

    def instance(self, name):
        """The file of an instance; FAMILY-N-SEED is generated when it is not stored."""
        stored = os.path.join(self.data, name + ".csv")
        if os.path.exists(stored):
            return stored
        made = self.path(name + ".csv")
        if not os.path.exists(made):
            with open(made, "w") as f:
                generator = [sys.executable, os.path.join(self.data, "gen_instances.py")]
                subprocess.run(generator + name.split("-"), stdout=f, check=True)
        return made

    def plan(self, file, *args, check=True):
        """Runs `arenac plan`; returns the report with 'user_s', 'peak_mb' and 'checked' added, None when it failed."""
        plan = self.path("plan.csv")
        report = self.path("report.json")
        with open(report, "w") as out:
            child = subprocess.Popen([self.o.arenac, "plan", file, "--json", "--emit", "csv", "-o", plan, *args],
                                     stdout=out, stderr=subprocess.PIPE)
            child.stderr.read()
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 4):
            return None
        with open(report) as f:
            d = json.load(f)["plan"]
        d["exit"] = child.returncode
        d["user_s"] = used.ru_utime
        d["peak_mb"] = used.ru_maxrss / 1024
        d["ratio"] = d["arena_bytes"] / max(1, d["lower_bound_bytes"])
        if check:
            checker = [sys.executable, os.path.join(self.data, "verify_plan.py"), file, plan, "--quiet"]
            if subprocess.run(checker, stdout=subprocess.DEVNULL).returncode:
                return None
        return d

    def certified(self, file, d):
        """Is the plan at the bound, or does the replayer accept that nothing smaller exists?"""
        if d["arena_bytes"] == d["lower_bound_bytes"]:
            return True
        cert = self.path("proof.cert")
        subprocess.run([self.o.arenac, "plan", file, "-q", "--emit", "certificate", "-o", cert],
                       stderr=subprocess.DEVNULL)
        done = subprocess.run([self.certcheck, file, cert], capture_output=True, text=True)
        return done.returncode == 0 and "VALID no plan of %d bytes" % (d["arena_bytes"] - 1) in done.stdout

    def row(self, text, result, target, good):
        self.rows.append((text, result, target, good))
        print("%-44s %-34s %-34s %s" % (text, result, target, "pass" if good else "MISS"), flush=True)

    # ---------------------------------------------------------------- groups

    def budget(self):
        total = 0.0
        for x in LETTERS:
            d = self.plan(self.instance("minimalloc-" + x), "--budget", str(CAPACITY[x]))
            fits = d is not None and d["exit"] == 0 and d["arena_bytes"] <= CAPACITY[x]
            total += d["user_s"] if d else math.inf
            self.row("minimalloc-%s in %s B" % (x, CAPACITY[x]), "%.2f s" % d["user_s"] if d else "no plan",
                     "fits, under 0.8 s", fits and d["user_s"] < 0.8)
        self.row("minimalloc-A..K, sum", "%.2f s" % total, "under 5 s", total < 5)

    def open(self):
        for x in "DJ":
            d = self.plan(self.instance("minimalloc-" + x), "--effort", self.o.effort)
            self.row("minimalloc-%s minimised, --effort %s" % (x, self.o.effort),
                     "[%d, %d] %.1f s" % (d["lower_bound_bytes"], d["arena_bytes"], d["user_s"]),
                     "a plan of 1048576 or less", d["arena_bytes"] <= 1048576)

    def perfect(self):
        for name in ("cut-250-1", "pinwheel-250-1"):
            d = self.plan(self.instance(name))
            self.row(name, "%.3f of the bound, %.2f s" % (d["ratio"], d["user_s"]),
                     "optimum in 60 s", d["ratio"] == 1 and d["user_s"] < 60)

    def net(self):
        files = sorted(glob.glob(os.path.join(self.data, "net-*.csv")))
        good, slowest, worst = 0, 0.0, ""
        for f in files:
            d = self.plan(f)
            if d and d["user_s"] < 1 and self.certified(f, d):
                good += 1
            else:
                worst += " " + os.path.basename(f)
            slowest = max(slowest, d["user_s"] if d else math.inf)
        self.row("net-*%s" % worst, "%d of %d, slowest %.2f s" % (good, len(files), slowest),
                 "bound or certificate, under 1 s", good == len(files))

    def quick(self):
        log, slowest = 0.0, 0.0
        for x in LETTERS:
            d = self.plan(self.instance("minimalloc-" + x), "--effort", "0")
            log += math.log(d["ratio"])
            slowest = max(slowest, d["user_s"])
        mean = math.exp(log / len(LETTERS))
        self.row("minimalloc-A..K by heuristics, geometric mean", "%.3f, slowest %.2f s" % (mean, slowest),
                 "at most 1.15, 1 s each", mean <= 1.15 and slowest < 1)

    def scale(self):
        for family, n, ratio, seconds in (("resnet", 100000, 1, 1), ("trace", 100000, 1, 1),
                                          ("pinwheel", 100000, 1.05, 10),
                                          ("resnet", 1000000, 1, 3), ("trace", 1000000, 1, 3)):
            d = self.plan(self.instance("%s-%d-1" % (family, n)), check=n < 1000000 or not self.o.trust)
            self.row("%s, %d items" % (family, n),
                     "%.3f of the bound, %.2f s, %.0f MB" % (d["ratio"], d["user_s"], d["peak_mb"]),
                     "%.3f, %d s, 2 GB" % (ratio, seconds),
                     d["ratio"] <= ratio and d["user_s"] < seconds and d["peak_mb"] < 2048)

    def family(self):
        worse, at_bound, n = "", 0, 0
        for f in sorted(glob.glob(os.path.join(self.data, "*-[0-9]*-1.csv"))):
            d = self.plan(f)
            n += 1
            reached = [s["arena_bytes"] for s in d["strategies"] if s["arena_bytes"] >= 0] if d else []
            at_bound += bool(d) and d["ratio"] == 1
            if not d or d["arena_bytes"] > min(reached):
                worse += " " + os.path.basename(f)
        self.row("%d generated instances, 30 to 10,000 items%s" % (n, worse), "%d at the bound" % at_bound,
                 "valid, no strategy is better", not worse)


def main():
    o = options()
    bench = Bench(o)
    if not os.path.isdir(bench.data):
        print("no %s: nothing to measure" % os.path.relpath(bench.data, ROOT))
        return 0
    for group in o.only.split(","):
        if group not in GROUPS:
            sys.exit("no group '%s'; groups: %s" % (group, ", ".join(GROUPS)))
        getattr(bench, group)()
    misses = sum(not r[3] for r in bench.rows)
    print("%d rows, %d misses" % (len(bench.rows), misses))
    if o.markdown:
        with open(o.markdown, "w") as f:
            f.write("| what | reached | wanted | |\n|---|---|---|---|\n")
            for text, result, target, good in bench.rows:
                f.write("| %s | %s | %s | %s |\n" % (text, result, target, "pass" if good else "**miss**"))
    return misses


if __name__ == "__main__":
    sys.exit(main())
