#!/bin/sh
# site.sh - the documentation as a web site: docs/, the parts of the tree that it links to, and the API, with search.
# Made by mkdocs: $MKDOCS, the one that is installed, or one from PyPI in an environment of its own.
# usage: site.sh [FOLDER], build-site without it; the site is in FOLDER/site. $ARENAC: the tool, else it is built.
#     python3 -m http.server -d build-site/site          shows it, with its search
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/build-site}
command -v python3 >/dev/null || { . "$root/scripts/setup.sh"; need python3 python3; }
arenac=${ARENAC:-$root/build/arenac}
if [ ! -x "$arenac" ]; then
    . "$root/scripts/setup.sh"
    need cmake cmake make make cc gcc
    cmake -S "$root" -B "$root/build"
    cmake --build "$root/build" --target arenac
fi
mkdocs=${MKDOCS:-$(command -v mkdocs || true)}
if [ -z "$mkdocs" ]; then
    [ -x "$out-venv/bin/mkdocs" ] || { python3 -m venv "$out-venv" && "$out-venv/bin/pip" install -q "mkdocs>=1.6,<2"; }
    mkdocs=$out-venv/bin/mkdocs
fi
python3 "$root/docs/site/make.py" "$arenac" "$root" "$out"
"$mkdocs" build -q --strict -f "$out/mkdocs.yml"
echo "$out/site/index.html"
