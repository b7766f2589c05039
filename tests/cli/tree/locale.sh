#!/bin/sh
# The library's text does not depend on the locale of the program that embeds it: functions of the C library that read
# or print by the locale are called nowhere; base/format.h, base/decimal.h and base/ascii.h replace them. Programs that
# never call setlocale are exempt: the checkers of certificates. unit_locale compares outputs. usage: locale.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
# shellcheck disable=SC2086
sources=$(find arenac.h $folders models python web -name '*.[ch]' -o -name '*.def' |
    grep -v -e '^prove/replay/' -e '^planner/certcheck/')
calls='strto(d|f|ld)|ato[f]|v?f?[sw]?scanf|set_?locale|localeconv|newlocale|uselocale|strcoll|strxfrm|strftime'
classes='is(alpha|alnum|digit|xdigit|space|blank|upper|lower|punct|print|graph|cntrl)|to(upper|lower)|strn?casecmp'
seen=$(echo "$sources" | wc -l)
[ "$seen" -gt 500 ] || die "only $seen sources: the check itself is broken"
lines=$tmp/lines
# found PATTERN TEXT: fails if a source has it outside of comments
found() {
    # shellcheck disable=SC2086
    grep -nE "$1" $sources | grep -vE '^[^:]*:[0-9]+: *(/?\*)' >"$lines"
    [ ! -s "$lines" ] || fail "$2:
$(cat "$lines")"
}
found "(^|[^_a-zA-Z0-9\"])($calls) *\(" "reads or prints by the locale; see base/decimal.h"
found "(^|[^_a-zA-Z0-9\"])($classes) *\(" "asks the locale for classes of characters; see base/ascii.h"
found "[^_a-zA-Z0-9][fsvdn]*printf *\([^\"]*\"([^\"]|\\\\\")*%[-+ 0-9.*]*[aefgAEFG]" \
    "prints a float by the locale; see base/format.h"
# Runtime files are compiled beside generated code, without base.
sources=$(echo "$sources" | grep -v '^runtime/')
found "(^|[^_a-zA-Z0-9\"])v?sn?printf *\(" "use ac_print or ac_vprint of base/format.h"
