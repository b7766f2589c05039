#!/bin/sh
# The direction of includes is law: every #include "..." in a folder must be allowed by tests/includes.txt.
# usage: includes.sh ARENAC SOURCE_DIR
cd "$2" || exit 1
bad=0 seen=0
while IFS= read -r line; do
    case $line in '#'* | '') continue ;; esac
    who=${line%%:*} allowed=${line#*:}
    if [ -d "$who" ]; then files=$(ls "$who"/*.[ch] "$who"/*.def 2>/dev/null); else files=$(ls "$who".[ch]); fi
    for f in $files; do
        case $who:$f in planner:planner/live.* | planner:planner/order.* | planner:planner/overlap.* | planner:planner/stripe*) continue ;; esac
        for inc in $(sed -n 's/^#include "\(.*\)"/\1/p' "$f"); do
            seen=$((seen + 1)) ok=0
            for a in $allowed; do
                case $inc in "$a" | "$a"/* | "$a".h) ok=1 ;; esac
            done
            [ "${inc#*/}" = "$inc" ] && [ "${who}" = runtime ] && ok=1
            [ $ok = 1 ] || { echo "$f includes \"$inc\": not allowed by tests/includes.txt"; bad=1; }
        done
    done
done <tests/includes.txt
[ "$seen" -gt 50 ] || { echo "only $seen includes seen: the check itself is broken"; exit 1; }
exit $bad
