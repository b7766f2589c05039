#!/bin/sh
# The page of scripts/web.sh: the tool in WebAssembly gives the bytes of the native one on twelve models (under node);
# the page plans, compares, runs and compiles a model that is dropped on it, and fetches nothing (headless Chromium).
# The output of emcc stays next to the build. usage: web.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
case $build in *asan*) echo "skipped: the native build is a release here"; exit 77 ;; esac
require emcc emscripten node nodejs cmake cmake python3 python3
web=$build/web
! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
sh "$src/scripts/web.sh" "$web" >log.txt 2>&1 || { tail -30 log.txt; die "the page is not built"; }
grep 'arenac.html' log.txt
! grep -o 'https\?://[a-z][^"'\'' )]*' "$src"/web/page.* || die "the page names an address"
mkdir native
node "$src/tests/web/same_bytes.js" "$arenac" "$web" "$src" native

find_chromium || exit 0
node "$src/tests/web/page.js" "$chromium" "$web/arenac.html" "$arenac" "$models" "$tmp"
