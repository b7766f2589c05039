#!/bin/sh
# Files of a model called like a header of the system do not hide it; suggested command lines quote names.
# usage: file_names.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
for name in time stdint Math arn_rt Xmmintrin newlib; do
    cp "$models/gate.ag" $name.ag
    expect 0 '' "$arenac" compile $name.ag -q
    [ -e ${name}_model.h ] && [ ! -e $name.h ] || fail "$name.ag: $(ls)"
    expect 0 '' "$arenac" compile $name.ag -q -o net_$name.c
    [ -e net_$name.h ] || fail "-o net_$name.c is not taken"
done
expect 2 'hide that of a runtime file' "$arenac" compile time.ag -q --host -o arn_rt.c
expect 0 '' "$arenac" compile time.ag -q --host -o arnold.c
expect 2 'hide <math.h>' "$arenac" compile time.ag -q -o math.c
expect 2 'inc[a-z]*/signal.h: .*hide <signal.h>' "$arenac" compile time.ag -q --name signal --emit cmake -o p
[ ! -e math.c ] && [ ! -e p/src/signal.c ] || fail "files of a refused name are written"
if have cc gcc; then
    echo '#include <time.h>
#include <stdint.h>
#include <math.h>
#include "time_model.h"
#include "stdint_model.h"
int main(void) { return time(0) == 0 && TIME_MODEL_ARENA_BYTES < STDINT_MODEL_ARENA_BYTES; }' >main.c
    expect 0 '' cc -I. main.c time_model.c stdint_model.c -o main
fi
# no message has an option with a name that is not quoted
cd "$src" || exit 1
# shellcheck disable=SC2086
grep -rnE '"[^"]*--[a-z]+ %s[=.]' $folders >"$tmp/lines"
[ ! -s "$tmp/lines" ] || fail "use ac_shell_set of base/shell.h: $(cat "$tmp/lines")"
