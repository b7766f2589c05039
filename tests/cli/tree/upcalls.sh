#!/bin/sh
# The files of a folder have an order with hardly any call back up (upcalls.py); the limits may only fall. A folder
# includes its subfolders; folders that are not named must not have such calls. usage: upcalls.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require nm binutils
require python3 python3
count() { python3 "$src/tests/cli/tree/upcalls.py" "$1"; }

# a call in each direction is found, whichever way round
mkdir planted
echo 'void ac_b(void), ac_c(void); void ac_a(void) { ac_b(), ac_c(); }' >a.c
echo 'void ac_a(void); void ac_b(void) { ac_a(); }' >b.c
echo 'void ac_c(void) { }' >c.c
"${CC:-cc}" -c a.c b.c c.c && ar rc planted/libac_planted.a a.o b.o c.o || die "the planted files do not compile"
echo ac_planted >planted/layers.txt
[ "$(count planted)" = 'planted 1' ] || die "the planted call is not found: $(count planted)"

count "$(dirname "$arenac")" >counts || die "no counts"
cat >limits <<'X'
base 1
codegen 14
export 3
import/onnx 12
import/pt2 3
import/tf 7
import/tflite 5
ir/graph 1
ir/loop 8
ir/lower 5
planner 5
prove 1
X
awk '
FNR == NR { most[$1] = $2; next }
{
    for (folder = $1; !(folder in most) && sub("/[^/]*$", "", folder);) {}
    n[folder in most ? folder : $1] += $2
    files++
}
END {
    for (folder in n)
        if (n[folder] > most[folder]) {
            print folder ": " n[folder] " calls run back up, at most " most[folder] + 0
            bad = 1
        }
    if (files < 40) { print "few folders seen: the check itself is broken"; bad = 1 }
    exit bad
}' limits counts || fail "more calls run back up between files: python3 tests/cli/tree/upcalls.py BUILD -v names them"
exit $bad
