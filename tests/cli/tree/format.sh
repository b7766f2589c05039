#!/bin/sh
# How sources are written. Tests in shell: the prelude, lines of at most 120 columns, at most 40 in a folder. C: as
# clang-format leaves it, by .clang-format; other versions than Debian 12's break lines elsewhere.
# usage: format.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
shell=$(find tests/cli -type f | grep -v '\.\(py\|js\)$')
for f in $shell; do
    ! grep -nE '.{121}' "$f" || fail "$f has lines of more than 120 columns"
    case $f in
    *.sh) grep -q '^\. "$2/tests/cli/prelude"$' "$f" || fail "$f does not begin with the prelude" ;;
    esac
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
