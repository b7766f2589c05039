#!/bin/sh
# Names that the installed libraries put into a user's program: ac_ and arenac_, arn_ in the runtime; and arenac_ is
# for what the public headers declare. usage: symbols.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require nm binutils
build=$(dirname "$arenac")
names() { # LIBRARY: the symbols that it defines for others
    nm -g --defined-only "$build/$1" 2>/dev/null |
        awk 'NF == 3 && $2 ~ /^[A-TV-Z]$/ && $3 !~ /^__(odr_)?asan/ { print $3 }' | sort -u
}
check() { # LIBRARY PREFIXES LEAST
    all=$(names "$1")
    [ "$(echo "$all" | wc -l)" -ge "$3" ] || fail "$1: few symbols found: the check itself is broken"
    wrong=$(echo "$all" | grep -vE "^($2)_")
    [ -z "$wrong" ] || fail "$1: these do not begin with $2:
$wrong"
}
check libarenac.a 'ac|arenac' 1000
check libarenac-planner.a 'ac|arenac' 100
check libarn_rt.a arn 10
for name in $(names libarenac.a | grep '^arenac_') $(names libarenac-planner.a | grep '^arenac_'); do
    grep -qw "$name" "$src/arenac.h" "$src/planner/pack/arenac_planner.h" || fail "$name is in no public header"
done
