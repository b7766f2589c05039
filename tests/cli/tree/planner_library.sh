#!/bin/sh
# The programs that docs/planner-library.md and the head of arenac_planner.h show compile unchanged and work as
# described; the header is C99 and C++. usage: planner_library.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
lib=$(dirname "$arenac")/libarenac-planner.a include=$src/planner/pack
cc=${CC:-cc}
require "$cc" gcc
san=
! nm "$arenac" 2>/dev/null | grep -q __asan_init || san="-fsanitize=address,undefined"
program() { # NAME: what it prints is the result
    # shellcheck disable=SC2086
    $cc -std=c99 -O1 -Wall -Wextra -pedantic -Werror $san -I"$include" "$tmp/$1.c" "$lib" -o "$tmp/$1" ||
        die "$1 does not compile"
    "$tmp/$1"
}

awk '/^```c$/ { code = 1; next } /^```$/ { code = 0 } code' "$src/docs/planner-library.md" >"$tmp/page.c"
[ "$(program page)" = "96 bytes, b at 64" ] || die "docs/planner-library.md: $("$tmp/page")"

{ # the example of the header is the body of a function
    printf '#include <arenac_planner.h>\n#include <stdio.h>\nint main(void)\n{\n'
    sed -n '/^ \*     arenac_interval item/,/^ \*     arenac_packing_free/s/^ \*     //p' "$include/arenac_planner.h"
    printf 'return 0;\n}\n'
} >"$tmp/head.c"
[ "$(program head)" = "96 bytes, a at 0" ] || die "the head of arenac_planner.h: $("$tmp/head")"

printf '#include <arenac_planner.h>\nint main() { return arenac_pack_planner(0) == nullptr; }\n' >"$tmp/plus.cc"
if command -v c++ >/dev/null; then
    # shellcheck disable=SC2086
    c++ -std=c++11 -Wall -Wextra -pedantic -Werror $san -I"$include" "$tmp/plus.cc" "$lib" -o "$tmp/plus" &&
        "$tmp/plus" || die "C++"
else
    echo "no c++ here: not checked with it"
fi
echo "the planner library does what its page says"
