#!/bin/sh
# verify PLAN MODEL: plans in CSV form and locks against a model under its options; planted faults are found, and
# --max-errors limits their list. usage: verify.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
for m in "$models"/*_int8.tflite "$models"/gate.ag "$src"/tests/golden/c/state.ag; do
    for o in "" "--views off" "--overlap on" "--stripe auto"; do
        # shellcheck disable=SC2086
        "$arenac" plan -q "$m" $o --emit csv,lock -o p || fail "plan $m $o"
        for p in p.csv p.lock; do
            # shellcheck disable=SC2086
            expect 0 'safe' "$arenac" verify $p "$m" $o
        done
    done
done
m=$models/digits_int8.tflite
two="--mem tcm:600,fast --mem big:1M,slow"
# shellcheck disable=SC2086
"$arenac" plan -q "$m" $two --emit lock -o two.lock
"$arenac" plan -q "$m" --emit csv -o two.csv
# shellcheck disable=SC2086
expect 0 'safe; .* items, tcm [0-9,]* B + big [0-9,]* B = [0-9,]* B, lower bound' "$arenac" verify two.lock "$m" $two
# shellcheck disable=SC2086
expect 8 'one memory' "$arenac" verify two.csv "$m" $two
expect 7 'a memory that the model does not have' "$arenac" verify two.lock "$m"

"$arenac" plan -q "$m" --emit csv,lock -o p
expect 2 'pass the model as well' "$arenac" verify p.lock
expect 7 'shares bytes' "$arenac" verify p.lock "$m" --preserve all
expect 7 'shares bytes' "$arenac" verify p.lock "$m" --views off
awk '/^image / { $4 = 0 } { print }' p.lock >moved.lock
expect 7 "shares bytes" "$arenac" verify moved.lock "$m"
awk '/^image / { $4 = 769 } { print }' p.lock >odd.lock
expect 7 'E0701' "$arenac" verify odd.lock "$m"
grep -v '^image ' p.lock >less.lock
expect 7 "'image' has no offset" "$arenac" verify less.lock "$m"
expect 7 "has no offset" "$arenac" verify p.lock "$models/branch_int8.tflite"

# --max-errors
awk 'BEGIN { print "id,lower,upper,size,offset"; for (i = 0; i < 60; i++) printf "t%d,0,9,16,0\n", i }' >clash.csv
for n in 3 7 20; do
    expect 7 'shares bytes' "$arenac" verify clash.csv --max-errors $n
    [ "$(grep -c 'error\[E0701\]' err.txt)" = $n ] || fail "--max-errors $n: $(grep -c 'error\[E0701\]' err.txt) shown"
done
