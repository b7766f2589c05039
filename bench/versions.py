#!/usr/bin/env python3
"""Times two builds of arenac against each other: plan and compile, in turns, so that both see the same machine.

  versions.py OLD NEW [--rounds N] [--only TEXT] [--models FOLDER]

OLD and NEW are arenac programs. For each model the CPU time (user and system) of N rounds of each, least of all rounds,
in milliseconds, and NEW / OLD; at the end the geometric means. Models: ten of ../shared/models that differ in size and
format, and those of models/ when that folder is missing. Needs Python 3.8.
"""
import argparse
import math
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import same_output  # noqa: E402  how a folder with a model.json becomes a command line

CALLS = {"plan": ["plan", "-q"], "compile": ["compile", "-q", "--weights", "blob"]}
MOST = 10


def cpu_ms(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode(errors='replace')}")
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def pick(models):
    """Ten of them, evenly spread over the list, which is sorted by format."""
    models = list(models)
    step = max(1, len(models) / MOST)
    return [models[int(i * step)] for i in range(min(MOST, len(models)))]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("old", type=pathlib.Path)
    p.add_argument("new", type=pathlib.Path)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--only", default="")
    p.add_argument("--models", action="append", default=[])
    a = p.parse_args()
    programs = [str(a.old.resolve()), str(a.new.resolve())]
    ratios = {name: [] for name in CALLS}
    print(f"{'model':<40} {'':<8} {'old ms':>9} {'new ms':>9} {'new/old':>8}")
    with tempfile.TemporaryDirectory() as tmp:
        for name, model in pick(m for m in same_output.models(a.models) if a.only in m[0]):
            for call, args in CALLS.items():
                stem = ["-o", "m", "--name", "m"] if call == "compile" else []
                least = [math.inf, math.inf]
                for k in range(2 * a.rounds):
                    side = (k + k // 2) % 2  # old new new old: a slow drift hits both alike
                    least[side] = min(least[side], cpu_ms([programs[side], *args, *model, *stem], tmp))
                ratios[call].append(least[1] / least[0])
                print(f"{name:<40} {call:<8} {least[0]:9.1f} {least[1]:9.1f} {ratios[call][-1]:8.3f}", flush=True)
    for call, r in ratios.items():
        print(f"{'geometric mean':<40} {call:<8} {'':>9} {'':>9} {math.exp(sum(map(math.log, r)) / len(r)):8.3f}")


if __name__ == "__main__":
    main()
