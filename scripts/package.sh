#!/bin/sh
# package.sh - builds Debian packages and a tarball: arenac, arenac-dev, and with --all the backends for LLVM and MPI.
# usage: package.sh [--all] [FOLDER: build/packages]. ARENAC_MAINTAINER="Name <address>" names their maintainer.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc /usr/include/stdio.h libc6-dev make make cmake cmake dpkg-shlibdeps dpkg-dev \
    file file gzip gzip
backends=OFF
[ "${1-}" != --all ] || {
    backends=ON
    shift
    need llvm-config-19 "llvm-19-dev llvm-19" mpicc libopenmpi-dev
}
out=${1:-$root/build/packages}
build "$root/build-package" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DARENAC_LLVM=$backends \
    -DARENAC_MPI=$backends ${ARENAC_MAINTAINER:+-DARENAC_MAINTAINER="$ARENAC_MAINTAINER"}
cpack --config "$root/build-package/CPackConfig.cmake" -B "$out" >"$root/build-package/cpack.log" ||
    { cat "$root/build-package/cpack.log"; exit 1; }
ls "$out"/*.deb "$out"/*.tar.gz
