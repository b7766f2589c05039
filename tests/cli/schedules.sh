#!/bin/sh
# docs/schedules.md: its example gives the loops it shows. `schedules.sh ARENAC SOURCE_DIR --update` writes them into the page.
set -eu
arenac=$1 src=$2
page=$src/docs/schedules.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
awk '/^```ag/ { on = 1; next } /^```/ { on = 0 } on' "$page" >example.ag
[ -s example.ag ] || { echo "FAILED: no example in the page"; exit 1; }
"$arenac" show example.ag -t x86-64-v3 --loops conv >loops
awk -v file=loops '/^<!-- arenac show example.ag -t x86-64-v3 --loops conv -->/ { print; getline; print; while ((getline line < file) > 0) print line
    while ((getline line) > 0 && line !~ /^```/) ; print "```"; next } { print }' "$page" >new.md
# where getline VAR from the page itself keeps $0
if [ "${3:-}" = --update ]; then cp new.md "$page"; exit 0; fi
diff "$page" new.md || { echo "FAILED: the page shows other loops; sh tests/cli/schedules.sh ARENAC SOURCE_DIR --update mends it"; exit 1; }
grep -q 'register tile: 2 rows by 1 vector ' loops || { echo "FAILED: the tile is not the one that the page explains"; exit 1; }
"$arenac" run -q example.ag -t x86-64-v3 --backend eval --random 1 --output-dir eval
if "$arenac" run -q example.ag -t x86-64-v3 --random 1 --output-dir c 2>/dev/null; then cmp eval/0.npy c/0.npy; fi
echo "the example of docs/schedules.md holds"
