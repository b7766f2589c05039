#!/bin/sh
# A folder of sources has at most 45 .c, .h and .def files; arenac.h is the only one of the root.
# usage: folders.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
most=45
find . -path './build*' -prune -o -path './.*/*' -prune -o \( -path ./tests -o -path ./bench -o -path ./docs -o \
    -path ./examples -o -path ./scripts \) -prune -o -name '*.[ch]' -print -o -name '*.def' -print |
    sed 's#^\./##; s#^[^/]*$#./&#' >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 500 ] || die "only $(wc -l <"$tmp/files") files seen: the check itself is broken"
sed 's#/[^/]*$##' "$tmp/files" | sort | uniq -c >"$tmp/folders"
while read -r n folder; do
    [ "$n" -le "$most" ] || fail "$folder has $n files, at most $most are allowed"
done <"$tmp/folders"
root=$(grep '^\./' "$tmp/files" | tr '\n' ' ')
[ "$root" = "./arenac.h " ] || fail "the root has the sources $root, only arenac.h belongs there"
