#!/bin/sh
# A folder calls only the folders that its layer() row in CMakeLists.txt names, and theirs; and no folder comes back to
# itself. Read off the symbols of the archives. usage: layers.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require nm binutils
set -e
build=$(dirname "$arenac")
: >symbols
while read -r layer uses; do
    [ -f "$build/lib$layer.a" ] || continue # headers only, or built elsewhere
    nm -g "$build/lib$layer.a" 2>/dev/null | awk -v layer="$layer" '
        NF == 2 && $1 == "U" { print layer, "U", $2 }
        NF == 3 { print layer, "D", $3 }' >>symbols
done <"$build/layers.txt"
awk '
FNR == NR { layers[++n] = $1; for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
$2 == "D" { owner[$3] = $1; next }
{ needs[++calls] = $1 " " $3 }
END {
    for (k = 1; k <= n; k++) # closure, by Warshall
        for (i = 1; i <= n; i++)
            if ((layers[i], layers[k]) in may)
                for (j = 1; j <= n; j++)
                    if ((layers[k], layers[j]) in may)
                        may[layers[i], layers[j]] = 1
    for (i = 1; i <= n; i++)
        if ((layers[i], layers[i]) in may) {
            print layers[i] " may call itself through others: a cycle"
            bad = 1
        }
    for (c = 1; c <= calls; c++) {
        split(needs[c], w, " ")
        if (!(w[2] in owner) || owner[w[2]] == w[1])
            continue
        seen++
        if (!((w[1], owner[w[2]]) in may)) {
            print w[1] " calls " w[2] " of " owner[w[2]] ", which its layer() does not name"
            bad = 1
        }
    }
    if (seen < 500) {
        print "only " seen + 0 " calls between layers seen: the check itself is broken"
        bad = 1
    }
    exit bad
}' "$build/layers.txt" symbols
