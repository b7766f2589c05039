#!/bin/sh
# Plans of models and of CSV problems through the command line. usage: plan.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
# TFLite's own scheme on a six-node graph: five intermediates i > v > ii > iv > iii, input and output live throughout.
cat >six.csv <<'X'
id,lower,upper,size
in,0,7,64
out,0,7,64
i,1,3,640
ii,2,5,384
iii,3,6,128
iv,5,7,256
v,4,6,512
X
"$arenac" plan six.csv --planner tflite -q -o plan.csv
[ "$(cut -d, -f1,5 plan.csv | tr '\n' ' ')" = "id,offset in,0 out,64 i,128 ii,768 iii,1152 iv,640 v,128 " ] || { cat plan.csv; exit 1; }
"$arenac" verify plan.csv six.csv
for p in greedy tflm bestfit tflite none auto; do
    for m in "$src"/models/*.tflite "$src"/models/*.ag; do
        "$arenac" plan -q "$m" --planner $p --emit problem,csv -o m
        "$arenac" verify m.csv m.problem.csv
    done
done >verified.txt
[ "$(grep -c safe verified.txt)" -ge 42 ]
# What would take less is tried, and said as the plan with that option says it; lines end at column 100; a pipe has no escapes.
"$arenac" plan "$src/models/dsnet_int8.tflite" >report.txt
for option in "--overlap on" "--stripe auto"; do # shellcheck disable=SC2086
    bytes=$("$arenac" plan -q --json "$src/models/dsnet_int8.tflite" $option | sed -n 's/.*"arena_bytes": *\([0-9]*\).*/\1/p' | head -1)
    said=$(sed -n "s/^ *$option *\([0-9,]*\) B .*/\1/p" report.txt | tr -d ,)
    [ "$said" = "$bytes" ] || { cat report.txt; echo "$option: $bytes, not '$said'"; exit 1; }
done
"$arenac" plan "$src/models/dsnet_int8.tflite" --io rows | grep -q "To go lower" && exit 1
for m in "$src"/models/*.tflite "$src"/models/*.ag; do
    "$arenac" plan "$m" && "$arenac" plan "$m" --stripe auto
done >reports.txt
awk 'length($0) > 100 { print "too long: " $0; bad = 1 } /\033/ { print "escapes"; bad = 1 } / $/ { print "blanks at the end: " $0; bad = 1 }
    END { exit bad }' reports.txt
# The chain of ten 64-byte tensors takes 320 bytes under TFLite's rules, and 832 when intermediates are preserved.
{
    echo 'graph chain {'
    echo '  input x0: f32[16]'
    echo '  input x1: f32[16]'
    echo '  t0 = add(x0, x1)'
    i=1
    while [ $i -le 10 ]; do echo "  t$i = relu(t$((i - 1)))"; i=$((i + 1)); done
    echo '  output t10'
    echo '}'
} >chain.ag
"$arenac" plan --reference tflite --json chain.ag | grep -q '"arena_bytes": 320'
"$arenac" plan --reference tflite --preserve all --json chain.ag | grep -q '"arena_bytes": 832'
"$arenac" plan "$src/models/digits_int8.tflite" | grep -q 'Plan: '
"$arenac" plan "$src/models/digits_int8.tflite" --emit md | grep -q '|'
"$arenac" plan "$src/models/digits_int8.tflite" --emit dot | grep -q 'digraph'
# The same plan every time.
"$arenac" plan "$src/models/branch_int8.tflite" -vv >1.txt
"$arenac" plan "$src/models/branch_int8.tflite" -vv >2.txt
cmp 1.txt 2.txt
