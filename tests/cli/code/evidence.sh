#!/bin/sh
# compile --evidence DIR: every file of the folder is parsed, and its contents are compared with the model, the
# generated C, the plan and the arrays. usage: evidence.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
check() { # NAME MODEL OPTION...
    name=$1 model=$2
    shift 2
    mkdir -p "$name"
    "$arenac" compile -q "$model" --name net -o "$name/net.c" --emit c,h,lock --evidence "$name/evidence" "$@" ||
        { fail "$name: compile"; return; }
    "$py" - "$arenac" "$model" "$name" <<'END' || fail "$name"
import csv, hashlib, json, os, re, subprocess, sys
import numpy as np
arenac, model, folder = sys.argv[1:]
at = os.path.join(folder, "evidence")
def rows(name):
    with open(os.path.join(at, name), newline="") as f:
        return list(csv.DictReader(f))
def sha(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()

index = json.load(open(os.path.join(at, "evidence.json")))
assert index["schema"] == "arenac-evidence/1" and index["model_sha256"] == sha(model)
assert index["tool_sha256"] == sha(os.path.realpath(arenac)), "the tool's hash"
assert index["version"] in subprocess.run([arenac, "--version"], capture_output=True, text=True).stdout
named = {f["file"] for f in index["files"]}
assert named == set(os.listdir(at)) - {"evidence.json"}, named ^ set(os.listdir(at))
for f in index["files"]:
    path = os.path.join(at, f["file"])
    assert f["sha256"] == sha(path) and f["bytes"] == os.path.getsize(path), f
assert {f["file"] for f in index["generated"]} == {"net.c", "net.h", "net.lock"}
for f in index["generated"]:
    assert f["sha256"] == sha(os.path.join(folder, f["file"]))
steps = index["steps"]

# requirements: all steps, each with a formula; the loops that it names are there
loops = open(os.path.join(at, "loops.txt")).read()
required = rows("requirements.csv")
assert sorted({int(r["step"]) for r in required}) == list(range(steps))
for r in required:
    assert r["formula"] and r["operator"] and r["reference"] and r["result"], r
    assert re.search("^" + re.escape(r["arithmetic"].split(": ")[1]) + " ", loops, re.M), r["arithmetic"]

# trace: the lines hold the function and the call of the step
c = open(os.path.join(folder, "net.c")).read().split("\n")
trace = rows("trace.csv")
assert [int(r["step"]) for r in trace if int(r["step"]) >= 0] == list(range(steps))
for r in trace:
    if int(r["step"]) < 0:
        continue
    first, last = int(r["first_line"]), int(r["last_line"])
    begin, end = int(r["call_first_line"]), int(r["call_last_line"])
    assert r["function"] + "(" in c[first - 1] and c[last - 1] == "}" and first < last, r
    assert f"STEP_BEGIN({r['step']});" in c[begin - 1] and f"STEP_END({r['step']});" in c[end - 1], r
    assert any(r["function"] + "(" in line for line in c[begin:end]), r

# memory: tensors that are alive together share no byte, except views, results in place and scratch over dying operands
memory = rows("memory.csv")
lock = open(os.path.join(folder, "net.lock")).read()
assert memory
for r in memory:
    assert int(r["offset"]) >= 0 and int(r["first_step"]) <= int(r["last_step"]) < max(steps, 1), r
    assert int(r["offset"]) + int(r["bytes"]) <= max(index["arena_bytes"], index["state_bytes"]), r
    if r["kind"] == "":
        assert re.search(" ".join(["", r["bytes"], r["memory"], r["offset"], r["first_step"], r["last_step"]]) + "$",
                         lock, re.M), r
plain = [r for r in memory if r["kind"] in ("", "output", "state") and r["memory"] == "arena"]
in_place = any(r["kind"] == "in-place" for r in memory)
for i, r in enumerate(plain):
    for q in plain[:i]:
        apart = int(r["offset"]) >= int(q["offset"]) + int(q["bytes"]) or \
            int(q["offset"]) >= int(r["offset"]) + int(r["bytes"])
        assert apart or in_place or int(r["first_step"]) > int(q["last_step"]) or \
            int(q["first_step"]) > int(r["last_step"]), (r, q)

# proof, and its certificate
proof = json.load(open(os.path.join(at, "proof.json")))
assert proof["schema"] == "arenac-prove/1" and len(proof["steps"]) == steps
assert index["results"]["proven"] == proof["proven"] and index["results"]["claims_open"] == len(proof["doubts"])
certcheck = os.path.join(os.path.dirname(arenac), "arenac-certcheck")
compared = [certcheck, os.path.join(at, "code.certificate"), "--code"]
checked = subprocess.run(compared + [os.path.join(folder, "net.c")], capture_output=True, text=True)
assert checked.returncode in ((0, 3) if not proof["proven"] or "-t" in index["options"] else (0,)), checked.stdout

with open(os.path.join(folder, "net.c")) as f, open(os.path.join(folder, "changed.c"), "w") as out:
    out.write(f.read().replace("0", "1", 1))
other = subprocess.run(compared + [os.path.join(folder, "changed.c")], capture_output=True, text=True)
assert other.returncode == 1 and "is not a file that was written" in other.stdout, other.stdout

# vectors: files with those hashes, and the outputs of the model by another way
vectors = rows("vectors.csv")
sets = {int(r["set"]) for r in vectors}
assert len(sets) == index["results"]["vectors"]
for r in vectors:
    assert r["sha256"] == sha(os.path.join(at, r["file"])), r
for k in sets if not index["state_bytes"] else [0]:  # sets are run one after the other, with the state they leave
    inputs = [f"--input={r['index']}={at}/{r['file']}" for r in vectors if int(r["set"]) == k and r["kind"] == "input"]
    outputs = [r for r in vectors if int(r["set"]) == k and r["kind"] == "output"]
    subprocess.run([arenac, "run", "-q", model, "--backend", "eval", "-t", "generic",
                    "--output-dir", folder + "/again"] + inputs, check=True)
    for r in outputs:
        a, b = np.load(f"{at}/{r['file']}"), np.load(f"{folder}/again/{r['index']}.npy")
        assert a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5), r
        assert a.dtype.kind == "f" or (a == b).all(), r

deviations = open(os.path.join(at, "deviations.md")).read()
assert deviations.startswith("# Known deviations") and "docs/safety.md" in deviations
assert ("No compiler was tested" in deviations) == (index["results"]["compiler_test"] == "not done")
assert len(re.findall("not proven:", deviations)) == len(proof["doubts"])
assert index["stack_bytes"] > 0 and ("estimate" in deviations) == (index["stack_by"] == "estimate")
END
}
check integers "$models/branch_int8.tflite"
check floats "$models/dsnet_f32.tflite" --vectors 2
check stripes "$models/dsnet_int8.tflite" -t cortex-m4 --stripe auto
check state "$src/tests/golden/c/state.ag"
have gcc gcc && check tested "$models/digits_int8.tflite" --selftest-cc 'gcc -O2' --vectors 4
grep -q 'Self-test of' tested/evidence/evidence.json || ! have gcc gcc || fail "the result of the self-test"
# unproven claims are also printed, not only written: a tree with more nodes than the prover walks
$py - <<'END'
import numpy as np
n, inner = 2**18 - 1, 2**17 - 1
at = np.arange(n, dtype=np.int32)
np.where(at < inner, 2 * at + 1, at).astype(np.int32).tofile("first.bin")
np.where(at < inner, 0.5, np.nan).astype(np.float32).tofile("split.bin")
np.zeros(n, np.int16).tofile("feature.bin")
at.astype(np.float32).tofile("weight.bin")
END
cat >tree.ag <<'E'
graph tree {
  input x: f32[1,1]
  const feature: i16[262143] = file "feature.bin"
  const split: f32[262143] = file "split.bin"
  const first: i32[262143] = file "first.bin"
  const root: i32[1] = [0]
  const weight: f32[262143] = file "weight.bin"
  y = tree_ensemble(x, feature, split, first, root, weight)
  output y
}
E
expect 0 'warning\[E0703\]: [0-9]* claims\{0,1\} .* not proven' "$arenac" compile tree.ag --evidence open \
    --emit loops -o open.loops
grep -q 'not proven:' open/deviations.md || fail "deviations.md does not list the open claims"
# every operator has a formula
sed -n 's/^OP( *\([A-Z0-9_]*\),.*/\1/p' "$src/ir/ops/ops.def" | sort >operators
sed -n 's/^FORMULA(\([A-Z0-9_]*\), "..*/\1/p' "$src/driver/emit/formulas.def" | sort >formulas
cmp operators formulas || fail "driver/emit/formulas.def does not have a row for each operator"
# a name that would be a formula of a spreadsheet, or end a field
sed 's/digits/=1+1","x/' "$src/tests/golden/c/state.ag" >hostile.ag
check hostile hostile.ag
# a tool that cannot read its own file reports that in place of its hash, and in the list of deviations
if have gcc gcc && ! sanitized && gcc -shared -fPIC -O1 -o faults.so "$src/tests/cli/plan/io_faults.c" -ldl; then
    evidence() { # DIR: with FAULT, or COUNT, for the library
        faulty faults.so "$1" compile "$models/gate.ag" -o made/net.c --evidence made/evidence
    }
    hash='"tool_sha256": *"[0-9a-f]\{64\}"' why='/proc/self/exe: .*ermission denied' silent=0 n=1
    export COUNT="$tmp/count"
    evidence whole || fail "without a fault"
    unset COUNT
    opened=$(sed -n 's/^open //p' count)
    while [ "$n" -le "$opened" ]; do
        export FAULT="open:$n:13"
        if evidence part && ! grep -q "$hash" part/evidence/evidence.json; then
            silent=$((silent + 1))
            grep -q "\"tool_sha256\": *\"not available: $why" part/evidence/evidence.json &&
                grep -q "not named by a hash: $why" part/evidence/deviations.md ||
                fail "the reason is not said: $(grep tool_sha256 part/evidence/evidence.json)"
        fi
        unset FAULT
        n=$((n + 1))
    done
    [ "$silent" = 1 ] || fail "of $opened files that cannot be opened, $silent are the tool"
fi
# all or nothing
expect 8 'does not go with --host' "$arenac" compile "$models/digits_int8.tflite" --host -o net.c --evidence none
touch plain
expect 3 'cannot create the folder' "$arenac" compile "$models/digits_int8.tflite" -o net.c --evidence plain/folder
[ ! -e net.c ] && [ ! -e none ] || fail "something was written"
exit $bad
