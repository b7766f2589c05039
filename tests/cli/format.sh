#!/bin/sh
# All C sources are as clang-format leaves them, by .clang-format; other versions than Debian 12's break lines elsewhere.
# usage: format.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
cd "$src" || exit 1
format=$(command -v clang-format-14 || command -v clang-format) || { missing clang-format clang-format-14; exit 77; }
case $("$format" --version) in
*"version 14."*) ;;
*) echo "skipped: $("$format" --version), not version 14: install clang-format-14"; exit 77 ;;
esac
sources=$(find . -path './build*' -prune -o -name '*.[ch]' -print)
[ "$(echo "$sources" | wc -l)" -gt 400 ] || { echo "few sources found: the check itself is broken"; exit 1; }
bad=$(echo "$sources" | xargs "$format" --dry-run 2>&1 | sed -n 's/:.*\[-Wclang-format-violations\]$//p' | sort -u)
[ -z "$bad" ] || { echo "run clang-format -i on:"; echo "$bad"; exit 1; }
