#!/bin/sh
# The lock that is written and compared; pictures and pages of plans: safe against names, small, the same twice. The
# page is driven in headless Chromium ($CHROMIUM, chromium, chromium-browser or google-chrome) when there is one:
# search, every step's live set, every planner and a tensor, compared with the JSON report. Texts: tests/golden/report
# and cli. usage: reports.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

m=$models/digits_int8.tflite
expect 0 '' "$arenac" plan -q "$m" --lock digits.lock --update-lock
expect 0 '' "$arenac" plan -q "$m" --lock digits.lock
sed -n '/^#/,$p' digits.lock | sed 1d >rows
LC_ALL=C sort rows | cmp - rows || fail "the lock is not sorted"
"$arenac" plan -q "$m" --emit lock -o again.lock
cmp digits.lock again.lock
expect 6 'E0602' "$arenac" plan -q "$m" --lock digits.lock --planner none

# --- models to look at: hostile names, an in-place and a zero-copy one, a thousand tensors
awk 'function draw() { s = (s * 16807) % 2147483647; return s }
    BEGIN { print "id,lower,upper,size,alignment"; s = 7
        for (i = 0; i < 1000; i++) { b = draw() % 990; size = 1000 + draw() % 30000
            print "t" i "," b "," b + 1 + s % 9 "," size ",64" } }' >thousand.csv
n=0
for f in "$models"/*_int8.tflite "$src/tests/golden/report/hostile-names.ag" thousand.csv; do
    n=$((n + 1))
    "$arenac" plan -q "$f" --emit svg -o $n.svg
    "$arenac" plan -q "$f" --emit svg -o again.svg
    cmp $n.svg again.svg
    "$arenac" plan -q "$f" --emit html -o $n.html
    "$arenac" plan -q "$f" --emit json -o $n.json
    ! grep -q '<script' $n.svg || die "script in the image of $f"
    scripts=2 # data and code; of many rows, those after the first as text
    [ "$f" != thousand.csv ] || scripts=3
    [ "$(grep -c '</script>' $n.html)" = $scripts ] || die "a name ends the script of $f"
    ! grep -v 'http://www.w3.org' $n.html | grep -q 'https\{0,1\}://' || die "$f: the page names an address"
    if command -v xmllint >/dev/null; then
        xmllint --noout $n.svg
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $n.svg
    fi
done

# Without its data (about 300 bytes a tensor and planner) the page is small, however many rows it has.
[ "$(wc -c <$n.html)" -lt 700000 ] || die "the page of 1,000 tensors takes $(wc -c <$n.html) bytes"
for rows in 8 60 200 1000 10000; do
    awk -v n=$rows 'BEGIN { print "id,lower,upper,size"
        for (i = 0; i < n; i++) print "t" i "," i "," i + 2 + i % 5 "," 1000 + i * 37 % 9000 }' >rows.csv
    "$arenac" plan -q rows.csv --planner greedy --emit html -o rows.html
    [ "$(grep -c '^<tr id=' rows.html)" = $rows ] || die "a table of $rows rows has others"
    sed -e '/id="plan-data"/,/^}/d' -e '/^<tr id=/d' -e '/<g id="t/,/<\/g>/d' -e '/class="hole"/d' \
        -e '/class="dots"/d' \
        -e '/class="pads"/d' rows.html >bare.html
    [ "$(wc -c <bare.html)" -lt 150000 ] || die "$(wc -c <bare.html) bytes beside the data of $rows rows"
done

# --- the page in a browser
find_chromium || exit 0

page() { # page N: appends the driver with the JSON report and runs it
    {
        cat "$1.html"
        echo '<script>const J ='
        sed 's/</\\u003c/g' "$1.json"
        echo ';'
        cat "$src/tests/cli/page/reports.js"
        echo '</script>'
    } >"drive$1.html"
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" \
        --enable-logging=stderr --window-size=1400,900 --dump-dom "file://$tmp/drive$1.html" >dom.txt 2>log.txt ||
        { cat log.txt; die "browser"; }
    sed -n '/<pre id="verdict">/,/<\/pre>/p' dom.txt | sed 's/<[^>]*>//g'
    grep -q 'ALL RIGHT' dom.txt || die "page $1"
    if grep 'CONSOLE' log.txt; then die "page $1 writes to the console"; fi
}
i=0
while [ $i -lt $n ]; do
    i=$((i + 1))
    page $i
done
