#!/bin/sh
# bench/build.py: builds, counts and starts a model that is here; its table has real figures, and a limit that is
# missed ends it with 1. usage: bench.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require python3 python3 gcc gcc nm binutils
python3 "$src/bench/build.py" --arenac "$arenac" --target generic --work "$tmp" --starts 2 --kernels 2 \
    "$models/dsnet_f32.tflite" "$models/branch_int8.tflite" >out 2>&1 || { cat out; die "bench/build.py"; }
grep -q '^2 of 2 models measured, 0 limits missed' out || die "no summary"
some='[1-9][0-9]*' many='[1-9][0-9]{2,}' real='[0-9.]*[1-9][0-9.]*'
grep -Eq "^\| dsnet_f32 \| [0-9.]+ \| [0-9.]+ \| $many \| $some \| $some \| $real \| $real \| $many " out ||
    { cat out; die "the row has holes"; }
[ "$(grep -c ' B  net_' out)" = 4 ] || die "no kernels"
# the estimate of the report is that of the right kernels: within a factor of 2 of the code itself
bytes=$(awk -F'|' '/^\| dsnet_f32/ { print $5 + 0 }' out)
"$arenac" plan --json "$models/dsnet_f32.tflite" -t generic >json 2>/dev/null
python3 - json "$bytes" <<'P' || die "the estimate of code bytes"
import json, sys
r = json.load(open(sys.argv[1]))
total = r["model"]["code_bytes_estimate"]
steps = r["steps"]
assert all(s["code_bytes_estimate"] > 0 for s in steps), steps
assert 0 < total <= sum(s["code_bytes_estimate"] for s in steps)
assert 0.5 < total / float(sys.argv[2]) < 2, (total, sys.argv[2])
P
cp "$models/dsnet_f32.tflite" kws.tflite # known by name: has limits
sed -e 's/"kws": (20, 2, None, 3072)/"kws": (20, 2, None, 1)/' -e "s|^HERE = .*|HERE = \"$src/bench\"|" \
    "$src/bench/build.py" >b.py
expect 1 'KB resident, limit 1' python3 b.py --arenac "$arenac" --target generic --work "$tmp" --starts 1 kws.tflite
echo "bench/build.py works"
