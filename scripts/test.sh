#!/bin/sh
# test.sh [--all] - installs what is missing, builds, runs all tests: once with ASan and UBSan, once as released. Ends with ctest's closing
# line. Tests that need something outside the repository skip with a message; --all installs for them what Debian
# has: LLVM, cross compilers, QEMU, node, Chromium.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc /usr/include/stdio.h libc6-dev make make cmake cmake
wish clang clang clang-format-14 clang-format-14 python3 python3 xz xz-utils pkg-config pkg-config
python3 -c 'import numpy' 2>/dev/null || wish /usr/lib/python3/dist-packages/numpy python3-numpy
# a compiler is of use with its libraries only: Debian's compilers are sometimes installed without
there() { command -v "$1" >/dev/null 2>&1; }
! there clang || wish "$(clang --rtlib=compiler-rt --print-libgcc-file-name)" "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
! there aarch64-linux-gnu-gcc || wish /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross
! there riscv64-linux-gnu-gcc || wish /usr/riscv64-linux-gnu/lib/libc.a libc6-dev-riscv64-cross
if [ "${1:-}" = --all ]; then
    wish llvm-config-19 "llvm-19-dev llvm-19" wasm-ld lld node nodejs qemu-aarch64 qemu-user chromium chromium \
        aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross \
        riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu /usr/riscv64-linux-gnu/lib/libc.a libc6-dev-riscv64-cross \
        arm-none-eabi-gcc gcc-arm-none-eabi /usr/lib/arm-none-eabi/newlib libnewlib-arm-none-eabi \
        riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf /usr/lib/picolibc/riscv64-unknown-elf picolibc-riscv64-unknown-elf \
        qemu-system-arm qemu-system-arm qemu-system-riscv32 qemu-system-misc
fi
werror=OFF
[ "${CI:-}" = true ] && werror=ON
build "$root/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARENAC_SANITIZE=ON -DARENAC_WERROR=$werror
build "$root/build" -DBUILD_TESTING=ON -DARENAC_WERROR=$werror

status=0
echo "== with ASan and UBSan"
(cd "$root/build-asan" && ctest --output-on-failure -j "$(nproc)" -LE release) || status=1
echo "== as released"
(cd "$root/build" && ctest --output-on-failure -j "$(nproc)") || status=1
exit $status
