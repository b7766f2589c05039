#!/bin/sh
# docs/schedules.md: its example gives the loops it shows. `schedules.sh ARENAC SOURCE_DIR --update` writes them into
# the page.
. "$2/tests/cli/prelude"
set -e
page=$src/docs/schedules.md
awk '/^```ag/ { on = 1; next } /^```/ { on = 0 } on' "$page" >example.ag
[ -s example.ag ] || die "no example in the page"
"$arenac" show example.ag -t x86-64-v3 --loops conv >loops
awk -v file=loops '
    /^<!-- arenac show example.ag -t x86-64-v3 --loops conv -->/ {
        print
        getline
        print
        while ((getline line < file) > 0)
            print line
        while ((getline line) > 0 && line !~ /^```/) # getline VAR keeps $0
            ;
        print "```"
        next
    }
    { print }' "$page" >new.md
if [ "${3:-}" = --update ]; then cp new.md "$page"; exit 0; fi
diff "$page" new.md ||
    die "the page shows other loops; sh tests/cli/tree/schedules.sh ARENAC SOURCE_DIR --update mends it"
grep -q 'register tile: 2 rows by 1 vector ' loops || die "the tile is not the one that the page explains"
"$arenac" run -q example.ag -t x86-64-v3 --backend eval --random 1 --output-dir eval
if "$arenac" run -q example.ag -t x86-64-v3 --random 1 --output-dir c 2>/dev/null; then cmp eval/0.npy c/0.npy; fi
echo "the example of docs/schedules.md holds"
