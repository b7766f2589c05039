#!/bin/sh
# Pages are up to date: every path of the repository that a page names exists, every page is reached from README.md, and
# docs/journey.md has every folder that tests/includes.txt has. snippets.sh runs the examples of pages. usage: docs.sh
# ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
n=0
for page in *.md docs/*.md docs/design/*.md docs/inside/*.md; do
    # links, relative to the page; and `folder/file` in backquotes, from the root
    grep -o ']([^)# ]*' "$page" | sed 's/^](//' | grep -v '^https\?:' | grep -v '^$' >"$tmp/links"
    while IFS= read -r link; do
        n=$((n + 1))
        [ -e "$(dirname "$page")/$link" ] || fail "$page links to $link, which is not there"
    done <"$tmp/links"
    grep -oE '`[a-z]+/[A-Za-z0-9_./-]+`' "$page" | tr -d '`' | while IFS= read -r path; do
        [ ! -d "${path%%/*}" ] || echo "$path" # what begins with a folder of ours
    done >"$tmp/paths"
    while IFS= read -r path; do
        n=$((n + 1))
        [ -e "$path" ] || fail "$page names $path, which is not there"
    done <"$tmp/paths"
done
# lines outside of code and tables
for page in *.md docs/*.md docs/*/*.md; do
    awk -v page="$page" '/^```/ { code = !code } !code && !/^\|/ && length($0) > 160 { print page ":" FNR }' "$page"
done >"$tmp/long"
[ ! -s "$tmp/long" ] || fail "lines of more than 160 columns: $(tr '\n' ' ' <"$tmp/long")"
[ $n -gt 200 ] || fail "only $n paths found: the check itself is broken"
grep -oh '](docs/[a-z0-9-]*\.md' README.md | sed 's/^](//' | sort -u >"$tmp/reached"
for page in docs/*.md; do
    grep -qx "$page" "$tmp/reached" || fail "README.md does not link to $page"
done
for page in docs/design/*-*.md; do
    grep -q "](${page##*/})" docs/design/README.md || fail "docs/design/README.md does not link to $page"
done
for page in docs/inside/*.md; do
    grep -q "](${page#docs/})" docs/journey.md || fail "docs/journey.md does not link to $page"
done
sed -n 's/^\([a-z][a-z/]*\):.*/\1/p' tests/includes.txt | while IFS= read -r folder; do
    grep -q "^|.*\`$folder\`" docs/journey.md || echo "$folder"
done >"$tmp/without"
[ ! -s "$tmp/without" ] || fail "docs/journey.md does not have $(tr '\n' ' ' <"$tmp/without")"
# the size that the page for safety engineers states
told=$(sed -n 's/.*small enough (\([0-9]*\),\([0-9]*\) lines of C11.*/\1\2/p' docs/safety.md)
is=$(cat planner/certcheck/*.c prove/replay/*.[ch] | wc -l)
[ $((is - told)) -lt 100 ] && [ $((told - is)) -lt 100 ] ||
    fail "docs/safety.md says that certcheck has $told lines; it has $is"
