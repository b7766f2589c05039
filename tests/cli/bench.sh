#!/bin/sh
# bench/build.py: builds, counts and starts a model that is here; its table has real figures, and a limit that is missed ends it with 1.
# usage: bench.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
require python3 python3 gcc gcc nm binutils
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/out"; exit 1; }
run() { python3 "$src/bench/build.py" --arenac "$arenac" --target generic --work "$tmp" --starts 2 "$@" >"$tmp/out" 2>&1; }
run --kernels 2 "$src/models/dsnet_f32.tflite" "$src/models/branch_int8.tflite" || fail "exit $?"
grep -q '^2 of 2 models measured, 0 limits missed' "$tmp/out" || fail "no summary"
grep -Eq '^\| dsnet_f32 \| [0-9.]+ \| [0-9.]+ \| [1-9][0-9]{2,} \| [1-9][0-9]* \| [1-9][0-9]* \| [0-9.]*[1-9][0-9.]* \| [0-9.]*[1-9][0-9.]* \| [1-9][0-9]{2,} ' "$tmp/out" ||
    fail "the row has holes"
[ "$(grep -c ' B  net_' "$tmp/out")" = 4 ] || fail "no kernels"
# the estimate of the report is that of the right kernels: within a factor of 2 of the code itself
real=$(awk -F'|' '/^\| dsnet_f32/ { print $5 + 0 }' "$tmp/out")
"$arenac" plan --json "$src/models/dsnet_f32.tflite" -t generic >"$tmp/json" 2>/dev/null
python3 - "$tmp/json" "$real" <<'P' || fail "the estimate of code bytes"
import json, sys
r = json.load(open(sys.argv[1]))
total = next(d["code_bytes_estimate"] for d in [r] + [x for x in r.values() if isinstance(x, dict)] if "code_bytes_estimate" in d)
steps = r["steps"]
assert all(s["code_bytes_estimate"] > 0 for s in steps), steps
assert 0 < total <= sum(s["code_bytes_estimate"] for s in steps)
assert 0.5 < total / float(sys.argv[2]) < 2, (total, sys.argv[2])
P
cp "$src/models/dsnet_f32.tflite" "$tmp/kws.tflite" # known by name: has limits
sed 's/"kws": (20, 2, None, 3072)/"kws": (20, 2, None, 1)/; s/^HERE = .*/HERE = "BENCH"/' "$src/bench/build.py" | sed "s|\"BENCH\"|\"$src/bench\"|" >"$tmp/b.py"
status=0
python3 "$tmp/b.py" --arenac "$arenac" --target generic --work "$tmp" --starts 1 "$tmp/kws.tflite" >"$tmp/out" 2>&1 || status=$?
[ $status = 1 ] && grep -q 'KB resident, limit 1' "$tmp/out" || fail "a missed limit gives $status"
echo "bench/build.py works"
