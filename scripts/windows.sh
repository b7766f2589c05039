#!/bin/sh
# windows.sh - builds arenac for Windows with MinGW-w64, and runs the quick tests under wine.
# usage: windows.sh [FOLDER: build-windows] [CTEST OPTIONS: -L quick]. Of Debian: gcc-mingw-w64-x86-64, wine64.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
. "$root/scripts/cross.sh"
need cmake cmake ninja ninja-build x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 /usr/lib/wine/wine64 wine64 \
    python3 python3
cross windows "$@"
