#!/bin/sh
# The page of a plan as a person uses it, in headless Chromium: the card at the pointer, sorting, planners, before and
# after, the address that comes back to the same place, the map of many rows, the graph, the chart of threads, keys,
# names for screen readers, and what axe finds.
# That figures are those of the report: reports.sh. usage: page.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require node nodejs
find_chromium || exit 0
"$arenac" plan -q "$models/branch_int8.tflite" --emit html,json -o branch
"$arenac" plan -q "$models/branch_int8.tflite" --planner bestfit --emit html,json,lock -o bestfit
"$arenac" plan -q "$models/branch_int8.tflite" --overlap on --planner greedy --emit html,json -o overlap
"$arenac" plan -q "$models/dsnet_f32.tflite" --overlap on --emit html,json -o dsnet
"$arenac" plan -q "$models/branch_int8.tflite" --mem fast:3K --mem slow:1M --emit html,json -o memories
"$arenac" plan -q "$models/branch_int8.tflite" --threads 4 --emit html,json -o threads
# 10,000 rows and steps; two large ones, and small ones that no screen has the pixels for
awk 'BEGIN { print "id,lower,upper,size"; print "large,0,5000,500000"; print "late,5000,10000,800000"
    for (i = 0; i < 9998; i++) print "t" i "," i "," i + 1 + i % 2 "," 1000 + 37 * i % 9000 }' >many.csv
"$arenac" plan -q many.csv --planner greedy --emit html -o many.html
# three modules of steps that no pass joins, inside a larger one
{
    echo 'graph modules {'
    echo '  input x: f32[1,8,8,4]'
    last=x
    for m in a b c; do
        for k in 1 2 3; do
            echo "  $m$k: f32[1,8,8,4] = softmax($last) \"net/$m/softmax_$k\""
            last=$m$k
        done
    done
    echo "  output $last"
    echo '}'
} >modules.ag
"$arenac" plan -q modules.ag --emit html,json -o modules
# one giant tensor beside small ones; 30,000 tensors
printf 'id,lower,upper,size\ngiant,0,4,50000000\nsmall,0,4,300\nother,1,3,900\nlast,2,4,64\n' >giant.csv
"$arenac" plan -q giant.csv --emit html -o giant.html
awk 'BEGIN { print "id,lower,upper,size"
    for (i = 0; i < 30000; i++)
        print "t" i "," int(i / 2) "," int(i / 2) + 1 + i * 7 % 40 "," 64 * (1 + i * 31 % 97) }' >tens.csv
"$arenac" plan -q tens.csv --planner greedy --emit html -o tens.html
find_axe
node "$src/tests/web/plan_page.js" "$chromium" "$tmp" ${axe:+"$axe"}
