#!/bin/sh
# docs/add-backend.md, followed: the JavaScript backend of tests/js prints five models, which run under node with the
# bits of the evaluator. usage: add_backend.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require node nodejs
ARENAC_BACKENDS=$(dirname "$arenac")/tests
export ARENAC_BACKENDS
printf '{"type": "module"}\n' >package.json
for name in digits_int8 digits_f32 branch_int8 dsnet_f32 gate; do
    m=$(ls "$models/$name".tflite "$models/$name".ag 2>/dev/null)
    "$arenac" run -q "$m" -t generic --backend eval --input 0="$models/$name.in0.0.npy" --output-dir want &&
        "$arenac" compile -q "$m" --emit js -o "$name.js" &&
        node "$src/tests/js/run.mjs" "$name.js" "$models/$name.in0.0.npy" want/0.npy || fail "$name"
done
expect 8 'only prints' "$arenac" run "$m" --backend js --random 1
# a planted bug shows: sums for differences
sed 's/Math.fround(\(.*\) - /Math.fround(\1 + /' dsnet_f32.js >bug.js
m=$models/dsnet_f32
"$arenac" run -q "$m.tflite" -t generic --backend eval --input 0="$m.in0.0.npy" --output-dir want
! node "$src/tests/js/run.mjs" bug.js "$m.in0.0.npy" want/0.npy >/dev/null || fail "a planted bug was not found"
