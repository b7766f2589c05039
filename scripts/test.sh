#!/bin/sh
# test.sh [--all] - installs missing packages, builds, runs the tests: once with ASan and UBSan, once as released. Ends
# with the skipped tests and ctest's closing lines. Tests that need something outside the repository skip with a
# message; --all installs the Debian packages for them: LLVM, cross compilers, QEMU, node, Chromium, and also runs long
# tests (tests/CMakeLists.txt; an hour more).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc /usr/include/stdio.h libc6-dev make make cmake cmake
wish clang clang clang-format-14 clang-format-14 python3 python3 xz xz-utils pkg-config pkg-config
python3 -c 'import numpy' 2>/dev/null || wish /usr/lib/python3/dist-packages/numpy python3-numpy
# a compiler is of use with its libraries only: Debian's compilers are sometimes installed without
there() { command -v "$1" >/dev/null 2>&1; }
! there clang || wish "$(clang --rtlib=compiler-rt --print-libgcc-file-name)" \
    "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
! there aarch64-linux-gnu-gcc || wish /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross
! there riscv64-linux-gnu-gcc || wish /usr/riscv64-linux-gnu/lib/libc.a libc6-dev-riscv64-cross
not_sanitized='release|long|twice' not_released='sanitized|long'
if [ "${1:-}" = --all ]; then
    not_sanitized='release|long' not_released=sanitized
    export ARENAC_SEEDS=3 # of random models
    wish llvm-config-19 "llvm-19-dev llvm-19" wasm-ld lld node nodejs qemu-aarch64 qemu-user chromium chromium \
        emcc emscripten \
        aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross \
        riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu /usr/riscv64-linux-gnu/lib/libc.a libc6-dev-riscv64-cross \
        arm-none-eabi-gcc gcc-arm-none-eabi /usr/lib/arm-none-eabi/newlib libnewlib-arm-none-eabi \
        riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf \
        /usr/lib/picolibc/riscv64-unknown-elf picolibc-riscv64-unknown-elf \
        qemu-system-arm qemu-system-arm qemu-system-riscv32 qemu-system-misc cppcheck cppcheck \
        lintian lintian dpkg-shlibdeps dpkg-dev file file ninja ninja-build zsh zsh fish fish dot graphviz man man-db \
        mpirun openmpi-bin mpicc libopenmpi-dev
fi
werror=OFF
[ "${CI:-}" = true ] && werror=ON
build "$root/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DARENAC_SANITIZE=ON -DARENAC_WERROR=$werror
build "$root/build" -DBUILD_TESTING=ON -DARENAC_WERROR=$werror

status=0
# run DIR [option of ctest...]
run() {
    (cd "$1" && shift && ctest --output-on-failure -j "$(nproc)" --output-log tests.log "$@") || status=1
}
# closing DIR: which tests failed, and ctest's closing line
closing() {
    sed -n '/^The following tests FAILED:/,/Errors while/{ /^The\|^\[\|Errors/!p; }' "$1/tests.log"
    grep '% tests passed' "$1/tests.log" || { echo "ctest did not end"; status=1; }
}
echo "== with ASan and UBSan"
run "$root/build-asan" -LE "$not_sanitized"
echo "== as released"
run "$root/build" -LE "$not_released"

echo "== skipped, and why"
# first the tests that were left out as a whole, then the words of all
awk '
    FILENAME ~ /tests\.log$/ { if (/ \(Skipped\)$/) whole[$3] = 1; next }
    /^[0-9]+\/[0-9]+ Testing: / { test = $3 }
    /^skipped: / {
        why = substr($0, 10)
        if (!(why in who)) order[n++] = why
        if (!seen[why, test]++) who[why] = who[why] (who[why] == "" ? "" : ", ") test (whole[test] ? "" : " (in part)")
    }
    END { for (i = 0; i < n; i++) print order[i] "\n    " who[order[i]]; if (!n) print "nothing" }
' "$root/build-asan/tests.log" "$root/build/tests.log" \
    "$root/build-asan/Testing/Temporary/LastTest.log" "$root/build/Testing/Temporary/LastTest.log"
[ "${1:-}" = --all ] || {
    echo "long tests"
    (cd "$root/build" && ctest -N -L long) | sed -n 's/^ *Test *#[0-9]*: //p' | xargs echo | fold -s -w 100 |
        sed 's/^/    /'
    echo "sh scripts/test.sh --all runs these, and installs of the rest what Debian has"
}
echo "== with ASan and UBSan"
closing "$root/build-asan"
echo "== as released"
closing "$root/build"
exit $status
