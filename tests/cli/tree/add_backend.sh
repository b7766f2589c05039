#!/bin/sh
# docs/add-backend.md, followed: its lines are those of tests/js and its build, and that backend prints five models,
# which run under node with the bits of the evaluator. usage: add_backend.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
lines() { # LANGUAGE FILE: the page's lines in that language that the file lacks
    awk -v open="\`\`\`$1" '$0 == "```" { on = 0 } on && NF; $0 == open { on = 1 }' "$src/docs/add-backend.md" >page
    [ -s page ] || fail "the page has no lines of $1"
    while IFS= read -r line; do
        grep -qF -- "$line" "$src/$2" || fail "docs/add-backend.md has a line that $2 lacks: $line"
    done <page
}
lines c tests/js/js_backend.c
lines cmake tests/CMakeLists.txt
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
expect 8 'cannot run it' "$arenac" run "$m" --backend js --random 1
# a planted bug shows: sums for differences
sed 's/Math.fround(\(.*\) - /Math.fround(\1 + /' dsnet_f32.js >bug.js
m=$models/dsnet_f32
"$arenac" run -q "$m.tflite" -t generic --backend eval --input 0="$m.in0.0.npy" --output-dir want
! node "$src/tests/js/run.mjs" bug.js "$m.in0.0.npy" want/0.npy >/dev/null || fail "a planted bug was not found"
