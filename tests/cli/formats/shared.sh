#!/bin/sh
# The public corpora next to the repository, if available: models, operator cases, hostile files, plans. The evaluator
# runs the same loops as the printed C and needs no compiler, so all of it takes about a minute; a full run through the
# C backend takes longer: scripts/corpora.sh. usage: shared.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_shared models && have_numpy || exit 77
ln -s "$arenac" arenac # the runners split their command at blanks: a path without any
# check LINES command...: the last lines of its output; a failure counts
check() {
    lines=$1
    shift
    "$@" >out 2>&1 || { fail "$@"; lines=40; }
    tail -n "$lines" out
}
case $arenac in
*asan*) ;; # hostile files below are what the sanitizers are for
*)
    for how in generic native; do
        check 1 $py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend eval --extra=-t --extra=$how --sets 2 \
            --min-pass 40 "$shared/models/tflite"
    done
    check 8 $py "$shared/conformance/tflite_conformance.py" run "$shared/conformance/tflite_ops" \
        --command "$tmp/arenac run {model} {inputs} --output-dir {out} --backend eval" --min-exact 318
    for m in "$shared"/models/tflite/*/*.tflite; do # every plan passes a checker that is not ours, and has its bound
        "$arenac" plan -q "$m" --emit problem,csv -o p 2>/dev/null || continue
        check 0 $py "$shared/planning/verify_plan.py" p.problem.csv p.csv
        bound=$(sed -n 's/.* peak [0-9]* lower_bound \([0-9]*\) .*/\1/p' out | head -1)
        "$arenac" plan "$m" --json 2>/dev/null | grep -q "\"live_bytes_bound\": $bound," ||
            fail "$m: its bound is not $bound"
    done
    ;;
esac
for verb in plan compile; do
    check 1 $py "$shared/conformance/mutate.py" check "$shared/conformance/fuzz/tflite" \
        --command "$tmp/arenac $verb {file} -o {tmp}/o.c"
done
