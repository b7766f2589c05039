#!/bin/sh
# The site that scripts/site.sh makes of docs/: every link leads somewhere (mkdocs --strict), it fetches nothing, it has
# the API, its search finds pages (headless Chromium), and axe finds nothing serious. usage: site.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require python3 python3
mkdocs=${ARENAC_MKDOCS:-$(command -v mkdocs || true)}
[ -n "$mkdocs" ] || { missing mkdocs "mkdocs (ARENAC_MKDOCS names another)"; exit 77; }
MKDOCS=$mkdocs ARENAC=$arenac sh "$src/scripts/site.sh" "$tmp/made" >log.txt 2>&1 || { cat log.txt; die "no site"; }
site=$tmp/made/site
n=$(find "$src/docs" -maxdepth 1 -name '*.md' | wc -l)
for page in "$src"/docs/*.md; do
    [ -s "$site/$(basename "$page" .md).html" ] || fail "no page of $page"
done
for what in "api-header M_ARENA_BYTES" "api-planner arenac_pack_check" "api-arenac ac_open" "api-python compile"; do
    # shellcheck disable=SC2086
    set -- $what
    grep -q "$2" "$site/$1.html" || fail "$1 does not have $2"
done
! grep -rlE '<(script|link|img)[^>]*(src|href)="(https?:)?//' "$site" --include='*.html' ||
    fail "it fetches from elsewhere"
[ "$n" -gt 50 ] || fail "only $n pages: the check itself is broken"
have node nodejs && find_chromium || exit $bad
find_axe
node "$src/tests/web/site.js" "$chromium" "$site" "$tmp" ${axe:+"$axe"} || fail "the site in a browser"
exit $bad
