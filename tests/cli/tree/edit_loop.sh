#!/bin/sh
# How many C files a small edit compiles again, by who includes whom; the limits may only fall. Parts of tables
# (columns() in CMakeLists.txt) change when their columns do. usage: edit_loop.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
find . \( -path './build*' -o -path ./.git -o -path ./tests -o -path ./bench -o -path ./docs -o -path ./examples \) \
    -prune -o -name '*.[ch]' -print | sed 's#^\./##' | xargs grep -H '^#include "' |
    sed -n 's#^\([^:]*\):.include "\(.*\)".*#\1 \2#p' >"$tmp/includes"
[ "$(wc -l <"$tmp/includes")" -gt 2000 ] || die "few includes found: the check itself is broken"
while read -r file most what; do
    n=$(awk -v file="$file" '{ by[$2] = by[$2] " " $1 }
        function reach(f, who, n, i) {
            n = split(by[f], who, " ")
            for (i = 1; i <= n; i++)
                if (!(who[i] in seen)) { seen[who[i]]; count += who[i] ~ /\.c$/; reach(who[i]) }
        }
        END { reach(file); print count + 0 }' "$tmp/includes")
    echo "$what: $n C files (at most $most)"
    [ "$n" -gt 0 ] || fail "no file includes $file"
    [ "$n" -le "$most" ] || fail "$what compiles $n files again, by $file: at most $most"
done <<'E'
ir/ops/ops.def 5 a flag of an operator
ir/ops/ops_shape.def 60 a shape rule of an operator
ir/ops/ops_gradient.def 60 a gradient of an operator
ir/ops/ops_loops.def 60 the loops of an operator
base/errors.def 2 a message
driver/request/options_fields.def 65 a new option
driver/request/options_words.def 65 a new word of an option
driver/request/options.def 2 a help text
ir/lower/lower.h 120 a comment in lower.h
ir/lower/arithmetic.h 145 a comment in arithmetic.h
ir/loop/loop.def 5 the meaning of an instruction
ir/dtype/dtype.def 5 a number of a type
ir/ops/attrs.def 5 a default of an attribute
ir/pass/passes.def 2 a condition of a pass
planner/pack/strategies.def 25 a help text of a strategy
planner/graph/reductions.def 15 a text of a reduction
E
