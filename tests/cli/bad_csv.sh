#!/bin/sh
# Problems that are not problems: each is refused with a message that says what and where, and with its exit code.
# usage: bad_csv.sh ARENAC SOURCE_DIR
set -u
arenac=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0

# refused EXIT PATTERN CSV [OPTION...]: the message matches, and nothing is written
refused() {
    want=$1 pattern=$2
    printf '%b' "$3" >bad.csv
    shift 3
    "$arenac" plan bad.csv -q --emit csv -o plan.csv "$@" >out.txt 2>&1
    got=$?
    if [ $got -ne "$want" ] || ! grep -q "$pattern" out.txt || { [ "$want" -ne 4 ] && [ -e plan.csv ]; }; then
        echo "FAILED: exit $got, wanted $want and '$pattern' from:"
        cat bad.csv out.txt
        failed=1
    fi
    rm -f plan.csv
}

head='id,lower,upper,size'
refused 1 "'a' is used twice, first in line 2" "$head\na,0,2,4\na,1,3,4\n"
refused 1 "no column 'size'" 'id,lower,upper\na,0,2\n'
refused 1 "no column 'upper'" 'id,lower,size\na,0,2\n'
refused 1 "column 'lower' is given twice" 'id,lower,start,upper,size\na,0,0,2,4\n'
refused 1 '3 fields, the header has 4' "$head\na,0,2\n"
refused 1 "'x' is not a whole number" "$head\na,x,2,4\n"
refused 1 'negative size' "$head\na,0,2,-1\n"
refused 1 'ends at step 2, not after its begin 5' "$head\na,5,2,4\n"
refused 1 'not after its begin 2' "$head\na,2,2,4\n"
refused 1 'does not fit in 63 bits' "$head\na,0,2,9223372036854775808\n"
refused 1 'add up to more than' "$head\na,0,2,9223372036854775807\nb,0,2,9223372036854775807\n"
refused 1 'sizes and alignments add up to more than' "$head,alignment\na,0,2,4,4611686018427387904\n"
refused 1 'bad.csv:2:9.*sizes and fixed offsets add up to more than' "$head,offset\na,0,2,4,9223372036854775807\n"
refused 1 'is above 2147483647' "$head\na,0,99999999999,4\n"
refused 1 'expected a power of two' "$head,alignment\na,0,2,4,3\n"
refused 1 'expected a power of two' "$head,alignment\na,0,2,4,0\n"
refused 1 'outside its life' "$head,gaps\na,0,9,4,3-12\n"
refused 1 'the file is empty' '' --from csv
refused 7 "shares bytes with 'b'" "$head,offset\na,0,2,4,0\nb,1,3,4,2\n"
refused 7 'not a multiple of its alignment' "$head,alignment,offset\na,0,2,4,4,6\n"
refused 4 'infeasible, proven' "$head\na,0,2,4\nb,1,3,4\n" --budget 7
refused 4 'infeasible, proven' "$head,offset\na,0,2,4,8\n" --budget 11
refused 2 'mem does not apply' "$head\na,0,2,4\n" --mem a:2
refused 2 'pin does not apply' "$head\na,0,2,4\n" --pin a=arena@0
refused 2 'is not a size' "$head\na,0,2,4\n" --budget 1.5K
for option in "--stripe auto" "--schedule search" "--io rows" "--overlap on"; do # shellcheck disable=SC2086
    printf '%s\na,0,2,4\n' "$head" >ok.csv
    "$arenac" plan ok.csv $option 2>out.txt >/dev/null && grep -q "W0002.*${option% *} .*ignored\|W0002.*$option is ignored" out.txt || { echo "FAILED: $option"; cat out.txt; failed=1; }
done
"$arenac" plan ok.csv >out.txt && grep -q 'interval problem, 1 item, 2 steps' out.txt && ! grep -q 'weights\|operator' out.txt ||
    { echo 'FAILED: the report of intervals'; cat out.txt; failed=1; }

# A rectangle cut into 250 items fills every step; heuristics miss that. The search ends with its steps, and says that it did.
awk 'function draw(n) { s = s * 16807 % 2147483647; return s % n }
    BEGIN { s = 5; t0[0] = 0; t1[0] = 400; size[0] = 100000; n = 1
        while (n < 250) { i = draw(n)
            if (draw(2) && t1[i] - t0[i] > 1) { c = t0[i] + 1 + draw(t1[i] - t0[i] - 1); t0[n] = c; t1[n] = t1[i]; t1[i] = c; size[n] = size[i]; n++ }
            else if (size[i] > 1) { c = 1 + draw(size[i] - 1); t0[n] = t0[i]; t1[n] = t1[i]; size[n] = size[i] - c; size[i] = c; n++ } }
        print "id,lower,upper,size"; for (i = 0; i < n; i++) print "t" i "," t0[i] "," t1[i] "," size[i] }' >hard.csv
for effort in 0 1 2; do
    "$arenac" plan hard.csv --effort $effort >out.txt && grep -q 'gap [0-9]' out.txt || { echo "FAILED: effort $effort"; cat out.txt; failed=1; }
done
bound=$(sed -n 's/.*Lower bound \([0-9,]*\) B.*/\1/p' out.txt | tr -d ,)
"$arenac" plan hard.csv -q --effort 0 --budget $((bound + 1)) 2>out.txt
[ $? -eq 4 ] && grep -q 'effort spent: the smallest plan found takes' out.txt || { echo 'FAILED: effort spent'; cat out.txt; failed=1; }

# Zero bytes are fine: the row stays, and takes no place.
printf '%s\na,0,2,0\nb,0,2,8\n' "$head" >zero.csv
"$arenac" plan zero.csv -q --emit csv -o plan.csv && grep -q '^b,0,2,8,0$' plan.csv || { echo 'FAILED: zero bytes'; failed=1; }

# Far too many rows for the memory allowed: a message, and soon.
awk 'BEGIN { print "id,lower,upper,size"; for (i = 0; i < 300000; i++) print "r" i "," i "," i + 3 ",64" }' >many.csv
"$arenac" plan many.csv -q --max-memory 32M >out.txt 2>&1
[ $? -eq 1 ] && grep -q 'E0402' out.txt || { echo 'FAILED: the memory limit'; cat out.txt; failed=1; }
exit $failed
