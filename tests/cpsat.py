"""Compares "optimal" with another solver: 200 random small problems, packed by arenac and by OR-Tools' CP-SAT.

usage: cpsat.py ARENAC [ROUNDS]          exit 0: all agree, 1: one does not (it is printed), 77: ortools is not
                                         installed"""
import json
import random
import subprocess
import sys
import tempfile

try:
    from ortools.sat.python import cp_model
except ImportError:
    print("skipped: ortools is missing: install ortools from PyPI")
    sys.exit(77)

ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 200


def problem(rng, kind):
    """Rows (begin, end, size, alignment, gap or None, offset or -1). kind: bit 0 alignment, 1 gaps, 2 fixed offsets."""
    rows, floor = [], 0
    for _ in range(rng.randint(4, 10)):
        begin = rng.randrange(8)
        end = begin + rng.randint(1, 6)
        size = rng.randint(1, 40)
        align = rng.choice((1, 2, 4, 8)) if kind & 1 else 1
        gap = (begin + 1, end - 1) if kind & 2 and end - begin > 2 and rng.random() < 0.4 else None
        offset = -1
        if kind & 4 and rng.random() < 0.2:  # one above the other, so they never collide
            offset = -(-floor // align) * align
            floor = offset + size
        rows.append((begin, end, size, align, gap, offset))
    return rows


def steps_of(row):
    begin, end, gap = row[0], row[1], row[4]
    return {t for t in range(begin, end) if not gap or not gap[0] <= t < gap[1]}


def smallest_arena(rows):
    model = cp_model.CpModel()
    most = sum(r[2] + r[3] for r in rows) + max(r[5] for r in rows) + 1
    top = model.NewIntVar(0, most, "top")
    at = []
    for size, align, offset in ((r[2], r[3], r[5]) for r in rows):
        unit = model.NewIntVar(0, most // align, "")
        at.append(unit * align)
        model.Add(unit * align + size <= top)
        if offset >= 0:
            model.Add(unit * align == offset)
    for i, a in enumerate(rows):
        for j in range(i):
            if steps_of(a) & steps_of(rows[j]):
                below = model.NewBoolVar("")
                model.Add(at[i] + a[2] <= at[j]).OnlyEnforceIf(below)
                model.Add(at[j] + rows[j][2] <= at[i]).OnlyEnforceIf(below.Not())
    model.Minimize(top)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if solver.Solve(model) != cp_model.OPTIMAL:
        raise SystemExit("CP-SAT does not decide a problem of %d items" % len(rows))
    return int(solver.ObjectiveValue())


def main():
    rng = random.Random(5)
    proofs = 0
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        for n in range(ROUNDS):
            rows = problem(rng, n % 8)
            text = "id,lower,upper,size,alignment,gaps,offset\n" + "".join(
                "r%d,%d,%d,%d,%d,%s,%d\n" % (k, r[0], r[1], r[2], r[3], "%d-%d" % r[4] if r[4] else "", r[5])
                for k, r in enumerate(rows))
            file.seek(0)
            file.truncate()
            file.write(text)
            file.flush()
            out = subprocess.run([sys.argv[1], "plan", file.name, "--planner", "exact", "--json"],
                                 capture_output=True, check=True)
            plan = json.loads(out.stdout)["plan"]
            best = smallest_arena(rows)
            if not plan["optimal"] or plan["arena_bytes"] != best:
                print("arenac: %s%d bytes, CP-SAT: %d bytes\n%s" %
                      ("optimal, " if plan["optimal"] else "", plan["arena_bytes"], best, text))
                return 1
            proofs += plan["arena_bytes"] > plan["lower_bound_bytes"]
    print("%d problems agree, %d of them above the lower bound" % (ROUNDS, proofs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
