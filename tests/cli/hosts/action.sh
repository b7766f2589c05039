#!/bin/sh
# The GitHub action (action.yml) in a repository with two branches: a plan that grew is compared with the base branch,
# one over the budget fails, and a model that is new or broken is reported; the hook of pre-commit checks each file.
# usage: action.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require git git
export ARENAC="$arenac" BASE= OPTIONS= BUDGET= GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main origin && cd origin || exit 1
git config user.name a && git config user.email a@b
cp "$models/digits_int8.tflite" m.tflite
git add . && git commit -qm one
cd .. && git clone -q origin work && cd work || exit 1
cp "$models/digits_f32.tflite" m.tflite
cp "$models/gate.ag" "new model.ag"

MODELS=m.tflite BASE=main sh "$src/scripts/action.sh" >out.txt 2>err.txt ||
    fail "a model that grew: $(cat out.txt err.txt)"
grep -q '^### m.tflite' arenac-plan.md && grep -q '^|' arenac-plan.md || fail "no table: $(cat arenac-plan.md)"
# the same as by hand
"$arenac" plan -q --emit lock -o old.lock ../origin/m.tflite && "$arenac" plan -q --emit lock -o new.lock m.tflite
"$arenac" diff --md old.lock new.lock >wanted.md
[ -s wanted.md ] && sed 1,4d arenac-plan.md | diff - wanted.md >diff.txt || fail "another difference: $(cat diff.txt)"
! MODELS=m.tflite BASE=main BUDGET=100 sh "$src/scripts/action.sh" >out.txt 2>err.txt ||
    fail "over the budget is success"
grep -q 'E0401' arenac-plan.md || fail "the page does not name the budget: $(cat arenac-plan.md)"
echo 'no model' >bad.tflite
! MODELS="m.tflite
bad.tflite" sh "$src/scripts/action.sh" >out.txt 2>err.txt || fail "a broken model is success"
grep -q '^### bad.tflite' arenac-plan.md || fail "the broken model is missing"
# what action.yml and the hooks name exists
for v in MODELS OPTIONS BUDGET BASE; do
    grep -q "^        $v: " "$src/action.yml" || fail "action.yml does not set $v"
done
hook=$(sed -n "s/^  entry: sh -c '\(.*\)' sh$/\1/p" "$src/.pre-commit-hooks.yaml")
mkdir bin && ln -s "$arenac" bin/arenac
PATH=$PWD/bin:$PATH sh -c "$hook" sh m.tflite "new model.ag" 2>err.txt ||
    fail "the hook refuses good models: $(cat err.txt)"
! PATH=$PWD/bin:$PATH sh -c "$hook" sh bad.tflite m.tflite 2>err.txt || fail "the hook accepts a bad model"
