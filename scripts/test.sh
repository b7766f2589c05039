#!/bin/sh
# test.sh [--all] - installs what is missing, builds, runs all tests: once with ASan and UBSan, once as released. Ends with ctest's
# closing line. Tests that need something outside the repository skip with a message; --all installs for them what Debian has: LLVM,
# cross compilers, QEMU, node.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc make make cmake cmake clang clang clang-format-14 clang-format-14 python3 python3
python3 -c 'import numpy' 2>/dev/null || need no-numpy python3-numpy || true
echo "int main(void){return 0;}" | gcc -x c -o /dev/null - 2>/dev/null || need no-libc libc6-dev
werror=OFF
[ "${CI:-}" = true ] && werror=ON
# a cross compiler is of use with its C library only
command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 && wish /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross
command -v riscv64-linux-gnu-gcc >/dev/null 2>&1 && wish /usr/riscv64-linux-gnu/lib/libc.a libc6-dev-riscv64-cross
if [ "${1:-}" = --all ]; then
    wish llvm-config-19 "llvm-19-dev llvm-19" wasm-ld lld node nodejs qemu-aarch64 qemu-user \
        aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" \
        riscv64-linux-gnu-gcc "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross" \
        arm-none-eabi-gcc "gcc-arm-none-eabi libnewlib-arm-none-eabi" riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf \
        qemu-system-arm qemu-system-arm qemu-system-riscv32 qemu-system-misc
fi
status=0
build "$root/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARENAC_SANITIZE=ON -DARENAC_WERROR=$werror
build "$root/build" -DBUILD_TESTING=ON -DARENAC_WERROR=$werror
echo "== with ASan and UBSan"
(cd "$root/build-asan" && ctest --output-on-failure -j "$(nproc)" -LE release) || status=1
echo "== as released"
(cd "$root/build" && ctest --output-on-failure -j "$(nproc)") || status=1
exit $status
