#!/bin/sh
# Names that the installed libraries put into a user's program: ac_ and arenac_, arn_ in the runtime; and arenac_ is for what the
# public headers declare. usage: symbols.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
require nm binutils
build=$(dirname "$arenac") bad=0
names() { # LIBRARY: the symbols that it defines for others
    nm -g --defined-only "$build/$1" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[A-TV-Z]$/ && $3 !~ /^__(odr_)?asan/ { print $3 }' | sort -u
}
check() { # LIBRARY PREFIXES LEAST
    all=$(names "$1")
    [ "$(echo "$all" | wc -l)" -ge "$3" ] || { echo "$1: few symbols found: the check itself is broken"; bad=1; }
    wrong=$(echo "$all" | grep -vE "^($2)_")
    [ -z "$wrong" ] || { echo "$1: these do not begin with $2:"; echo "$wrong"; bad=1; }
}
check libarenac.a 'ac|arenac' 1000
check libarenac-planner.a 'ac|arenac' 100
check libarn_rt.a arn 10
for name in $(names libarenac.a | grep '^arenac_') $(names libarenac-planner.a | grep '^arenac_'); do
    grep -qw "$name" "$src/arenac.h" "$src/planner/pack/arenac_planner.h" || { echo "$name is in no public header"; bad=1; }
done
exit $bad
