#!/bin/sh
# The options and results of passes are data: a function pointer in them would be a hidden call up to the driver. No
# code compares a pass by its function: passes.def has columns for that. The page of the journey lists the passes in
# their order. usage: pass_data.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
calls() { # FILE...: lines that declare a pointer to a function, or hold a pass
    grep -nE '\([[:space:]]*\*[[:space:]]*[a-z_]+[[:space:]]*\)[[:space:]]*\(|(ac_pass_fn|_fn) *\*' "$@"
}
compared() { # FILE...
    grep -nE '[!=]= *&?ac_pass_[a-z]+([^a-z_(]|$)' "$@"
}
printf '    int (*grow)(void *with, ac_ctx *cx);\n' >"$tmp/call.h"
printf '    ac_pass_fn *fn;\n' >"$tmp/pass.h"
printf 'if (r->fn != ac_pass_view || o->views)\n' >"$tmp/compared.c"
for f in call.h pass.h; do
    calls "$tmp/$f" >"$tmp/found" || die "the check itself does not find $(cat "$tmp/$f")"
done
compared "$tmp/compared.c" >"$tmp/found" || die "the check itself does not find $(cat "$tmp/compared.c")"
[ -s ir/pass/pass.h ] || die "no ir/pass/pass.h"
for f in ir/pass/*.h ir/pass/*/*.h; do
    found=$(calls "$f") && fail "$f holds a function: hand in its result, or run pieces of the list (ir/pass/run/run.h):
$found"
done
found=$(compared $(find ir driver -name '*.c')) && fail "a pass is compared by its function: use a column of passes.def:
$found"
order=$(sed -n 's/^\(PASS\|ON_REQUEST\|BY_CALLER\)(\([a-z]*\),.*/\2/p' ir/pass/passes.def | paste -sd ' ' |
    sed 's/ / > /g')
case $order in "infer > "*" > "*) ;; *) die "the order of the passes is '$order'" ;; esac
grep -qF " $order" docs/journey.md || fail "docs/journey.md does not list the passes as passes.def: $order"
exit $bad
