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
            # runtime is copied beside generated code: names without a folder
            [ "${who%%/*}" = runtime ] && [ "$inc" = "${inc#*/}" ] && continue
            fail "$f includes \"$inc\": not allowed by tests/includes.txt"
        done
    done
done
[ "$seen" -gt 500 ] || die "only $seen includes seen: the check itself is broken"
