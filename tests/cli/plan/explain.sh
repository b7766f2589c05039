#!/bin/sh
# explain: each code has an example that a test shows, and cures whose options and verbs exist. usage: explain.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
codes=$(sed -n 's/^ERR(\([EW][0-9]*\),.*/\1/p' "$src/base/errors.def")
[ "$(echo "$codes" | wc -l)" -gt 40 ] || die "few codes"
cat "$src"/tests/golden/*/*.err >messages.txt
for code in $codes; do
    "$arenac" explain "$code" >page.txt || fail "explain $code: exit $?"
    [ "$(wc -l <page.txt)" -ge 9 ] || fail "explain $code is short"
    text=$(sed -n 's/^  .*[a-z]\[\([EW]\)/\1/p' page.txt)
    case $text in "$code]: "*) ;; *) fail "explain $code has the example of another code" ;; esac
    grep -q "^$code " "$src/tests/golden/errors/exempt.txt" || grep -qF "[$text" messages.txt ||
        fail "explain $code: no golden message is '$text'"
    sed '1,/^Cures:/d' page.txt >cures.txt
    [ -s cures.txt ] || fail "explain $code has no cures"
    for option in $(grep -o -e '--[a-zA-Z][a-z-]*' cures.txt); do
        grep -q "\"${option#--}\"" "$src/driver/request/options.def" || fail "explain $code: $option is no option"
    done
    for verb in $(grep -o 'arenac [a-z]\{1,\}' cures.txt | cut -d ' ' -f 2 | sort -u); do
        "$arenac" help "$verb" >help.txt || fail "explain $code: $verb is no verb"
    done
done
