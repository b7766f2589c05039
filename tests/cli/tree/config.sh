#!/bin/sh
# Options from a file: ./arenac.conf or --config FILE; the command line takes precedence, options of other verbs are
# ignored, errors have a line; a file that was not named on the command line can neither write files nor run programs.
# usage: config.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models/digits_int8.tflite
cat >arenac.conf <<'X'
# all verbs
align = 64
  stripe=auto   # with a remark
lr = 0.5
recompute
views = on
X
"$arenac" plan -q --json "$m" >file.json || fail "plan with arenac.conf"
"$arenac" plan -q --json "$m" -v >file.json 2>said.txt
grep -qx 'arenac.conf:2: align = 64' said.txt && grep -qx 'arenac.conf:3: stripe = auto' said.txt ||
    { cat said.txt; fail "-v does not say where values come from"; }
! grep -q 'lr' said.txt || fail "an option of another verb"
"$arenac" plan -q --json "$m" --align 16 -v >both.json 2>said.txt
grep -q 'align = 64 (the command line has another)' said.txt || fail "-v does not say that the command line wins"
"$arenac" compile -q "$m" -o conf.c --depfile conf.d
grep -q 'arenac\.conf' conf.d || fail "the file is not in the rule of make"
mv arenac.conf shared.conf
"$arenac" plan -q --json "$m" --align 64 --stripe auto --recompute >line.json
cmp -s file.json line.json || fail "the file is not the command line"
"$arenac" plan -q --json "$m" --align 16 --stripe auto --recompute >line.json
cmp -s both.json line.json || fail "the command line does not win"
"$arenac" plan -q --json "$m" --config shared.conf >named.json && cmp -s file.json named.json || fail "--config"

wrong() { # LINE TEXT
    echo "$1" >arenac.conf
    expect 2 "arenac.conf:1: .*$2" "$arenac" plan "$m"
}
wrong 'targt = cortex-m4' "did you mean 'target'"
wrong 'align = 3' 'align = 3'
wrong 'help' 'belongs to the command line'
wrong 'recompute = yes' 'takes no value'
for o in output output-dir evidence depfile log selftest-cc; do
    wrong "$o = made" 'name this file with --config'
done
expect 0 '' "$arenac" help
expect 0 '' "$arenac" explain E0107
echo 'output = made.csv' >arenac.conf
expect 0 '' "$arenac" plan -q "$m" --config arenac.conf
[ -s made.csv ] || fail "a named file may write"
rm arenac.conf
expect 3 'cannot read' "$arenac" plan "$m" --config nosuch.conf

"$arenac" targets >targets.txt
"$arenac" compile --list-targets | cmp -s - targets.txt || fail "--list-targets"
