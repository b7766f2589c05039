#!/bin/sh
# All JSON that the tool writes follows docs/arenac.schema.json; the check finds violations; no_sharing_bytes is the
# arena of strategy none. usage: json.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require python3 python3
n=0
json() { # STATUS arguments...: a document on standard output, alone
    n=$((n + 1)) want=$1 got=0
    shift
    "$arenac" "$@" >"$n.json" 2>err.txt || got=$?
    [ $got = "$want" ] || { cat err.txt; die "exit $got, wanted $want: $*"; }
}
m=$models/digits_int8.tflite
"$arenac" plan -q "$m" --emit problem,csv,lock -o digits
"$arenac" plan -q "$models/digits_f32.tflite" --emit lock -o other.lock
for f in "$m" "$models/branch_f32.tflite" "$models/gate.ag" digits.problem.csv; do
    json 0 plan -q --json "$f"
    json 0 plan -q --json "$f" --planner none
    python3 - $n.json <<'X'
import json, sys
plan = json.load(open(sys.argv[1]))["plan"]
assert plan["no_sharing_bytes"] == plan["arena_bytes"], plan
X
done
for how in on off; do # bytes that two tensors share count once
    json 0 plan -q --json "$models/dsnet_int8.tflite" --overlap $how
    python3 - $n.json $how <<'X'
import json, sys
d, shared = json.load(open(sys.argv[1])), 0
for s in d["steps"]:
    at = [range(t["offset_bytes"], t["offset_bytes"] + t["bytes"]) for t in d["tensors"]
          if t["memory"] and not t["alias_of"] and t["first_step"] <= s["step"] <= t["last_step"]]
    used = len({b for r in at for b in r})
    shared += sum(map(len, at)) - used
    assert s["live_bytes"] == used, (s, used)
assert (shared > 0) == (sys.argv[2] == "on"), shared
live, plan = [s["live_bytes"] for s in d["steps"]], d["plan"]
assert max(live) == live[plan["peak_step"]] <= plan["arena_bytes"], plan
assert max(live) >= plan["live_bytes_bound"], plan
X
done
json 0 plan -q --json "$m" -t cuda-sm90 # the launches are those of the .cu file
"$arenac" compile -q "$m" -t cuda-sm90 --name digits --emit cu,h -o digits
[ "$(grep -c '"part":' $n.json)" = "$(sed -n '/_launches\[/,/^}/p' digits.cu | grep -c '^    {')" ] || die "launches"
json 0 plan -q --json "$m" -t cortex-m4 --schedule search --recompute --stripe auto
json 0 plan -q --json "$m" --mem a:512,fast --mem b:1M,slow # each memory has its own figures, `plan` those of all
python3 - $n.json <<'X'
import json, sys
d = json.load(open(sys.argv[1]))
ram, plan = [m for m in d["memories"] if m["name"] != "state"], d["plan"]
assert len(ram) == 2 and all(m["bytes"] for m in ram), ram
for key, of in ("arena_bytes", "bytes"), ("lower_bound_bytes", "lower_bound_bytes"):
    assert plan[key] == sum(m[of] for m in ram), (key, plan, ram)
live = {m["name"]: [] for m in ram}
for s in d["steps"]:
    for name in live:
        live[name].append(len({b for t in d["tensors"] if t["memory"] == name
                               and t["first_step"] <= s["step"] <= t["last_step"]
                               for b in range(t["offset_bytes"], t["offset_bytes"] + t["bytes"])}))
    assert s["live_bytes"] == sum(v[-1] for v in live.values()), s
for m in ram:
    assert max(live[m["name"]]) == live[m["name"]][m["peak_step"]] <= m["lower_bound_bytes"] <= m["bytes"], m
X
json 4 plan -q --json "$m" --budget 100
json 0 plan -q --json "$models/digits_f32.tflite" --train sgd --loss cross_entropy --batch 8 --budget 60K
for words in '--overlap off' '--mem a:2K,fast,align=128 --mem b:1M,slow'; do # alignments are those of the header
    # shellcheck disable=SC2086
    json 0 compile -q --json "$m" $words -o made.c
    python3 - $n.json made.h <<'X'
import json, re, sys
said = {x["name"].upper(): x["align_bytes"] for x in json.load(open(sys.argv[1]))["memories"]}
made = dict(re.findall(r"#define \w+?_INT8_(\w+)_ALIGN (\d+)u", open(sys.argv[2]).read()))
assert made and all(said[name] == int(align) for name, align in made.items()), (said, made)
X
done
json 3 plan -q --json nosuch.tflite
json 2 plan -q --json "$m" --planner nosuch
for words in "--nosuch" "--plannr auto" "-t nosuch" "--budget 10X" "--align 24"; do # before there is anything to say
    for verb in plan compile check; do
        # shellcheck disable=SC2086
        json 2 $verb --json "$m" $words
        # shellcheck disable=SC2086
        json 2 $verb "$m" $words --json
        python3 -c 'import json; assert json.load(open("'$n'.json"))["diagnostics"][0]["severity"] == "error"'
    done
done
json 2 bench "$m" --nosuch --json
json 2 plan --json "$m" --budget
json 2 pln "$m" --json
printf "json = on\nnosuch = 1\n" >o.conf
json 2 plan "$m" --config o.conf
grep -q "o.conf:2" err.txt || die "no place: $(cat err.txt)"
json 0 prove --json "$m"
json 0 diff --json digits.lock "$m"
json 6 diff --json digits.lock other.lock
json 0 verify --json digits.csv digits.problem.csv
for f in "$m" "$models/squares.prototxt" "$models/gate.ag" "$models/dense-symbol.json"; do json 0 show --json "$f"; done
json 0 plan -q --json --share exclusive "$m" "$models/dsnet_int8.tflite"
if command -v "${CC:-cc}" >/dev/null; then
    json 0 run --json "$m" --random 1 --backend eval
    json 0 run --json "$m" --input 0="$models/digits_int8.in0.0.npy" --compare 0="$models/digits_int8.out0.0.npy"
    json 5 run --json "$m" --random 1 --compare 0="$models/digits_int8.out0.1.npy"
    python3 - $n.json <<'X'
import json, sys
d = json.load(open(sys.argv[1]))
c = d["comparisons"][0]
assert not c["within_bounds"] and 0 < c["differ"] <= c["elements"] == len(d["outputs"][0]["values"]) == 10, d
X
    json 0 bench --json "$m" --runs 1
    json 0 bench --json "$m" --runs 1 --per-op
fi
"$arenac" compile -q "$m" -o evidence.c --evidence evidence
n=$((n + 1))
cp evidence/evidence.json $n.json
python3 "$src/tests/docs/schema.py" "$src/docs/arenac.schema.json" [0-9]*.json

# Planted: each document violates the schema.
python3 - <<'X'
import json
for i, (key, value) in enumerate({"shape": "[1,8,8,1]", "bytes": -1, "kind": "thing", "more": 1, "name": None}.items()):
    d = json.load(open("1.json"))
    d["tensors"][0][key] = value
    json.dump(d, open(f"bad{i}.json", "w"))
d = json.load(open("1.json"))
del d["plan"]["arena_bytes"]
json.dump(d, open("bad5.json", "w"))
X
for f in bad?.json; do
    expect 1 "$f: " python3 "$src/tests/docs/schema.py" "$src/docs/arenac.schema.json" "$f"
done
