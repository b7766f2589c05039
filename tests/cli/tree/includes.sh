#!/bin/sh
# The direction of includes is law: every folder of sources has a row in tests/includes.txt, which allows its #include
# "...". usage: includes.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
seen=0
folders=$(find . -path './build*' -prune -o -path ./tests -prune -o -path ./bench -prune -o -path ./docs -prune -o \
    -path ./examples -prune -o -path ./scripts -prune -o -name '*.[ch]' -print | sed 's#/[^/]*$##; s#^\./##' | sort -u)
for who in $folders; do
    [ "$who" = . ] && continue # arenac.h includes nothing of ours
    row=$(sed -n "s#^$who:##p" tests/includes.txt | tr '\n' ' ')
    grep -q "^$who:" tests/includes.txt || fail "$who has no row in tests/includes.txt"
    for f in "$who"/*.[ch] "$who"/*.def; do
        [ -e "$f" ] || continue
        for inc in $(sed -n 's/^#include "\(.*\)"/\1/p' "$f"); do
            seen=$((seen + 1))
            [ "${inc%.def}" != "$inc" ] && continue # a table
            case " $row $who " in *" ${inc%/*} "*) continue ;; esac
            # runtime is copied next to generated code: names without a folder
            [ "${who%%/*}" = runtime ] && [ "$inc" = "${inc#*/}" ] && continue
            fail "$f includes \"$inc\": not allowed by tests/includes.txt"
        done
    done
done
[ "$seen" -gt 500 ] || die "only $seen includes seen: the check itself is broken"
# no folder comes back to itself
pairs() {
    grep -v '^#' "$1" |
        awk -F: '{ n = split($2, w, " "); for (i = 1; i <= n; i++) if (w[i] != $1) print $1, w[i] }'
}
pairs tests/includes.txt | tsort >/dev/null 2>"$tmp/cycle" ||
    fail "includes run in a circle: $(sed 1d "$tmp/cycle" | tr '\n' ' ')"
printf 'base: import\n' | cat tests/includes.txt - >"$tmp/planted"
! pairs "$tmp/planted" | tsort >/dev/null 2>&1 || fail "a planted circle was not found"
