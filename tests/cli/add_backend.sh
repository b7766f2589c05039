#!/bin/sh
# docs/add-backend.md, followed: the JavaScript backend of tests/js prints five models, which run under node with the bits of the
# evaluator. usage: add_backend.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
require node nodejs
ARENAC_BACKENDS=$(dirname "$arenac")/tests
export ARENAC_BACKENDS
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
printf '{"type": "module"}\n' >"$tmp/package.json"
for name in digits_int8 digits_f32 branch_int8 dsnet_f32 gate; do
    m=$(ls "$src/models/$name".tflite "$src/models/$name".ag 2>/dev/null)
    "$arenac" run -q "$m" -t generic --backend eval --input 0="$src/models/$name.in0.0.npy" --output-dir "$tmp/want" &&
        "$arenac" compile -q "$m" --emit js -o "$tmp/$name.js" &&
        node "$src/tests/js/run.mjs" "$tmp/$name.js" "$src/models/$name.in0.0.npy" "$tmp/want/0.npy" || { echo "FAILED: $name"; bad=1; }
done
"$arenac" run "$m" --backend js --random 1 2>"$tmp/err"
[ $? = 8 ] && grep -q 'only prints' "$tmp/err" || { echo "FAILED: a backend that cannot run"; bad=1; }
# a planted bug shows: sums for differences
sed 's/Math.fround(\(.*\) - /Math.fround(\1 + /' "$tmp/dsnet_f32.js" >"$tmp/bug.js"
"$arenac" run -q "$src/models/dsnet_f32.tflite" -t generic --backend eval --input 0="$src/models/dsnet_f32.in0.0.npy" --output-dir "$tmp/want"
node "$src/tests/js/run.mjs" "$tmp/bug.js" "$src/models/dsnet_f32.in0.0.npy" "$tmp/want/0.npy" >/dev/null && { echo "FAILED: a planted bug was not found"; bad=1; }
exit $bad
