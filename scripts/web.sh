#!/bin/sh
# web.sh - arenac as a page: the tool compiled to WebAssembly by emcc, in one HTML file that works offline.
# usage: web.sh [BUILD_FOLDER], build-web without it; it has arenac.html then, and arenac.js with arenac.wasm for node.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need emcc emscripten cmake cmake make make python3 python3
out=${1:-$root/build-web}
# a node that is not Debian's does not look where Debian has the modules that emcc takes
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
emcmake cmake -S "$root" -B "$out" -DCMAKE_BUILD_TYPE=MinSizeRel -DBUILD_TESTING=OFF -DARENAC_LLVM=OFF -DARENAC_MPI=OFF
cmake --build "$out" --target arenac -j "$(nproc)"
python3 "$root/web/assemble.py" "$out"
