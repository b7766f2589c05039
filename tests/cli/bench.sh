#!/bin/sh
# bench/build.py: builds, counts and starts a model that is here; its table has real figures, and a limit that is missed ends it with 1.
# usage: bench.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
command -v python3 >/dev/null && command -v gcc >/dev/null && command -v nm >/dev/null || { echo "skipped: needs python3, gcc and nm"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/out"; exit 1; }
run() { python3 "$src/bench/build.py" --arenac "$arenac" --target generic --work "$tmp" --starts 2 "$@" >"$tmp/out" 2>&1; }
run --kernels 2 "$src/models/dsnet_f32.tflite" "$src/models/branch_int8.tflite" || fail "exit $?"
grep -q '^2 of 2 models measured, 0 limits missed' "$tmp/out" || fail "no summary"
grep -Eq '^\| dsnet_f32 \| [0-9.]+ \| [0-9.]+ \| [1-9][0-9]{2,} \| [1-9][0-9]* \| [1-9][0-9]* \| [0-9.]*[1-9][0-9.]* \| [0-9.]*[1-9][0-9.]* \| [1-9][0-9]{2,} ' "$tmp/out" ||
    fail "the row has holes"
[ "$(grep -c ' B  net_' "$tmp/out")" = 4 ] || fail "no kernels"
cp "$src/models/dsnet_f32.tflite" "$tmp/kws.tflite" # known by name: has limits
sed 's/"kws": (20, 2, None, 3072)/"kws": (20, 2, None, 1)/; s/^HERE = .*/HERE = "BENCH"/' "$src/bench/build.py" | sed "s|\"BENCH\"|\"$src/bench\"|" >"$tmp/b.py"
status=0
python3 "$tmp/b.py" --arenac "$arenac" --target generic --work "$tmp" --starts 1 "$tmp/kws.tflite" >"$tmp/out" 2>&1 || status=$?
[ $status = 1 ] && grep -q 'KB resident, limit 1' "$tmp/out" || fail "a missed limit gives $status"
echo "bench/build.py works"
