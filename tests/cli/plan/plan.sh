#!/bin/sh
# Plans of all models under all strategies are safe; reports keep to their width; the savings that reports predict for
# an option are those of the option. Single plans and reports: tests/golden/plan, csv and report. usage: plan.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
all=$(ls "$models"/*.tflite "$models"/*.ag)
for strategy in greedy tflm bestfit tflite none auto; do
    for m in $all; do verified "$m" --planner $strategy; done
done

# Options that would take less are tried, and reported with the size of the plan with that option.
"$arenac" plan "$models/dsnet_int8.tflite" >report.txt
for option in "--overlap on" "--stripe auto"; do # shellcheck disable=SC2086
    bytes=$(arena_bytes "$models/dsnet_int8.tflite" $option)
    said=$(sed -n "s/^ *$option *\([0-9,]*\) B .*/\1/p" report.txt | tr -d ,)
    [ "$said" = "$bytes" ] || { fail "$option: $bytes bytes, not '$said'"; cat report.txt; }
done

# Lines end at column 100, without blanks; a pipe gets no escapes; the same plan every time.
for m in $all; do
    "$arenac" plan "$m" && "$arenac" plan "$m" --stripe auto
done >reports.txt
awk 'length($0) > 100 { print "too long: " $0; bad = 1 }
    /\033/ { print "escapes"; bad = 1 }
    / $/ { print "blanks at the end: " $0; bad = 1 }
    END { exit bad }' reports.txt || fail "reports"
for k in 1 2; do "$arenac" plan "$models/branch_int8.tflite" -vv >$k.txt; done
cmp 1.txt 2.txt || fail "two runs differ"
