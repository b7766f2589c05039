#!/bin/sh
# Proof strategies: --without leaves one out; the model that a row of prove/strategies.def names is not proven then;
# docs/prover.md has the table. usage: prove_strategies.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
needs=$src/scripts/prove_needs.py
python3 "$needs" --page >page.txt
rows=$(wc -l <page.txt)
[ "$rows" -gt 15 ] || die "only $rows strategies found: the check itself is broken"
grep '^| `[a-z-]*` | [A-Z]* |' "$src/docs/prover.md" >is.txt
cmp -s page.txt is.txt || fail "docs/prover.md has another table than scripts/prove_needs.py --page prints"
grep -q "\[$rows strategies\](prover.md#strategies)" "$src/docs/prove.md" || fail "docs/prove.md has another number"

expect 2 'E0501.*unknown proof strategy .nothing.' "$arenac" prove "$models/digits_int8.tflite" --without nothing
expect 2 'the strategies are .*, schedules, .*sides$' "$arenac" prove "$models/digits_int8.tflite" --without nothing
expect 8 'E0703' "$arenac" prove "$models/digits_int8.tflite" --without sums --without schedules
python3 "$needs" --arenac "$arenac" >out.txt || fail "$(cat out.txt)"

# The check itself: a row whose model does not need it.
mkdir -p planted/scripts planted/prove
cp "$needs" "$src/scripts/prove_models.py" planted/scripts
ln -s "$src/models" planted/models
cp -r "$src/prove/strategy" planted/prove
sed -n '1p; /^STRATEGY(SCHEDULES/ { N; s/ --stripe auto//p; }' "$src/prove/strategies.def" >planted/prove/strategies.def
expect 1 "^schedules: 'models/digits_int8.tflite' is proven without it" \
    python3 planted/scripts/prove_needs.py --arenac "$arenac"
