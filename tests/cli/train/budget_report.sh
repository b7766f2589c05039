#!/bin/sh
# The report of a training step under a budget: recomputed work, a proven lower bound, the curve of bytes and work; both
# are monotone; `--budget total=`; the picture. usage: budget_report.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
cat >m.ag <<'E2'
graph m {
  input x: f32[4,10,10,4]
  const k0: f32[8,3,3,4] = random 1 (-0.3, 0.3)
  const k1: f32[8,3,3,8] = random 2 (-0.3, 0.3)
  const k2: f32[8,3,3,8] = random 3 (-0.3, 0.3)
  const k3: f32[8,3,3,8] = random 4 (-0.3, 0.3)
  const b: f32[8] = random 5 (-0.1, 0.1)
  const w: f32[3,8] = random 6 (-0.6, 0.6)
  const v: f32[3] = random 7 (-0.2, 0.2)
  const axes: i32[2] = [1, 2]
  a = conv_2d(x, k0, b) padding=same
  c = tanh(a)
  d = conv_2d(c, k1, b) padding=same
  e = logistic(d)
  f = conv_2d(e, k2, b) padding=same
  g = tanh(f)
  h = conv_2d(g, k3, b) padding=same
  i = add(h, e)
  l = logistic(i)
  n = mean(l, axes) keep_dims=false
  y = fully_connected(n, w, v)
  output y
}
E2
plan() { # OPTION...
    "$arenac" plan -q m.ag --train adam --loss cross_entropy --batch 4 "$@"
}
plan --emit json -o all.json
cat >check.py <<'E2'
import json, subprocess, sys
arenac, everything = sys.argv[1], json.load(open("all.json"))
assert "again" not in everything["plan"]
all_bytes = everything["plan"]["arena_bytes"]
state = sum(m["bytes"] for m in everything["memories"][1:]) + everything["model"]["weight_bytes"]
def plan(budget):
    line = [arenac] + "plan -q m.ag --train adam --loss cross_entropy --batch 4 --emit json -o got.json".split()
    r = subprocess.run(line + ["--budget", budget], capture_output=True, text=True)
    assert r.returncode in (0, 4), r.stderr
    return json.load(open("got.json")) if r.returncode == 0 else None
before, extra, met, optimal = all_bytes, 0, 0, 0
for percent in range(97, 30, -3):
    budget = all_bytes * percent // 100
    got, total = plan(str(budget)), plan("total=%d" % (budget + state))
    if got is None:
        assert total is None
        break
    p, a = got["plan"], got["plan"]["again"]
    assert total["plan"]["arena_bytes"] == p["arena_bytes"], "total= is another budget"
    assert p["arena_bytes"] <= min(budget, before), (p["arena_bytes"], budget, before)
    assert 0 <= a["extra_work_bound"] <= a["extra_work"] and a["extra_work"] >= extra
    assert a["optimal"] == (a["extra_work_bound"] == a["extra_work"])
    assert 0 < a["bytes_bound"] <= p["arena_bytes"] + 63
    assert len(a["steps"]) == p["recomputed_steps"]
    c = a["curve"]
    assert c[0]["extra_work"] == 0
    assert all(x["bytes"] > y["bytes"] and x["extra_work"] < y["extra_work"] for x, y in zip(c, c[1:]))
    before, extra, met, optimal = p["arena_bytes"], a["extra_work"], met + 1, optimal + a["optimal"]
assert met >= 5 and optimal >= 1, (met, optimal)
E2
python3 check.py "$arenac" || fail "the report"
budget=$(python3 -c 'import json; print(json.load(open("all.json"))["plan"]["arena_bytes"] * 8 // 10)')
plan --budget "$budget" --emit html -o p.html || fail "no page"
plan --budget "$budget" --emit svg -o p.svg || fail "no image"
for what in '<svg id="curve"' 'class="t act[^"]* kept' 'class="t act[^"]* again' 'class="band"' '(again)<td>'; do
    grep -q "$what" p.html || fail "the page lacks $what"
done
! grep -v 'http://www.w3.org' p.html | grep -q 'https\{0,1\}://' || fail "the page names an address"
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("p.svg")' || fail "the image is no XML"
expect 4 'no plan in this order of steps takes less than' plan --budget 100
expect 4 'weights and state take' plan --budget total=100
"$arenac" plan m.ag --train adam --loss cross_entropy --batch 4 --budget "$budget" >out.txt
tr '\n' ' ' <out.txt | grep -q 'no plan in this  *order' || fail "no word of the bound"
exit $bad
