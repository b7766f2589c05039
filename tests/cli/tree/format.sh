#!/bin/sh
# How sources are written: lines of at most 120 columns, in C outside of tables that clang-format leaves alone; in
# tables (.def) at most 160, so a longer row continues on another line. Tests in shell: the prelude, at most 40 in a
# folder. C: as clang-format leaves it, by .clang-format; other versions than Debian 12's break lines elsewhere.
# usage: format.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
find . \( -path './build*' -o -path ./.git -o -path ./models -o -path ./tests/golden \) -prune \
    -o -type f -print >"$tmp/all"
grep -E '\.(py|sh|js|mjs|cmake|cmake\.in|txt)$|^\./(scripts|tests/cli)/' "$tmp/all" | grep -v __pycache__ >"$tmp/text"
grep '\.[ch]$' "$tmp/all" >"$tmp/c"
for kind in py sh js mjs cmake txt; do
    grep -q "\.$kind$" "$tmp/text" || die "no .$kind found: the check itself is broken"
done
long=$(
    xargs grep -nHE '.{121}' <"$tmp/text"
    xargs awk 'FNR == 1 || /clang-format on/ { table = 0 } /clang-format off/ { table = 1 }
        length > 120 && !table { print FILENAME ":" FNR ":" $0 }' <"$tmp/c"
)
[ -z "$long" ] || fail "lines of more than 120 columns:
$long"
grep '\.def$' "$tmp/all" >"$tmp/def" || die "no .def found: the check itself is broken"
long=$(xargs grep -nHE '.{161}' <"$tmp/def")
[ -z "$long" ] || fail "rows of more than 160 columns:
$long"
for f in $(find tests/cli -name '*.sh'); do
    grep -q '^\. "$2/tests/cli/prelude"$' "$f" || fail "$f does not begin with the prelude"
done
for d in tests/cli tests/cli/*/; do
    [ "$(find "$d" -maxdepth 1 -type f | wc -l)" -le 40 ] || fail "$d holds more than 40 files"
done

format=$(command -v clang-format-14 || command -v clang-format) || { missing clang-format clang-format-14; exit 77; }
case $("$format" --version) in
*"version 14."*) ;;
*) echo "skipped: $("$format" --version), not version 14: install clang-format-14"; exit 77 ;;
esac
sources=$(find . -path './build*' -prune -o -name '*.[ch]' -print)
[ "$(echo "$sources" | wc -l)" -gt 400 ] || die "few sources found: the check itself is broken"
others=$(echo "$sources" | xargs "$format" --dry-run 2>&1 | sed -n 's/:.*\[-Wclang-format-violations\]$//p' | sort -u)
[ -z "$others" ] || fail "run clang-format -i on:
$others"
