#!/bin/sh
# test.sh - installs what is missing, builds, runs all tests: once with ASan and UBSan, once as released. Ends with ctest's
# closing line. Tests that need something outside the repository skip with a message.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc make make cmake cmake clang clang python3 python3
python3 -c 'import numpy' 2>/dev/null || need no-numpy python3-numpy || true
echo "int main(void){return 0;}" | gcc -x c -o /dev/null - 2>/dev/null || need no-libc libc6-dev
werror=OFF
[ "${CI:-}" = true ] && werror=ON
status=0
build "$root/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARENAC_SANITIZE=ON -DARENAC_WERROR=$werror
build "$root/build" -DBUILD_TESTING=ON -DARENAC_WERROR=$werror
echo "== with ASan and UBSan"
(cd "$root/build-asan" && ctest --output-on-failure -j "$(nproc)" -LE release) || status=1
echo "== as released"
(cd "$root/build" && ctest --output-on-failure -j "$(nproc)") || status=1
exit $status
