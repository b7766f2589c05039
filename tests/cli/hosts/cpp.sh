#!/bin/sh
# arenac.hpp compiles as C++17 without a warning and does what arenac.h does; errors are exceptions with the messages. A
# shared library of the same objects exports arenac_* alone. usage: cpp.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require g++ g++
build=$(dirname "$arenac")
[ -e "$build/libarenac.so" ] || { echo "skipped: libarenac.so is missing: build all"; exit 77; }
cat >use.cpp <<'END'
#include "arenac.hpp"
int main(int argc, char **argv)
{
    arn::compilation c;
    c.set("target", "cortex-m4").read({argv[1]}).compile().emit("c", "out.c").emit("h", "out.h").commit();
    std::printf("%lld\n", static_cast<long long>(c.arena_bytes()));
    try {
        arn::compilation().read({argv[2]});
        return 1;
    } catch (const arn::error &e) {
        std::printf("%d %s", e.status, e.what());
    }
    return argc != 3;
}
END
set -e
nm -D "$build/libarenac.so" | grep -q __asan && { echo "skipped: of a sanitized build"; exit 77; }
g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$src" use.cpp -L"$build" -larenac -Wl,-rpath,"$build" -o use
version=$("$arenac" plan --version | sed 's/arenac \([0-9]*\.[0-9]*\).*/\1/')
readelf -d "$build/libarenac.so" | grep -q "SONAME.*\[libarenac\.so\.$version\]" || fail "another SONAME"
readelf -d use | grep -q "NEEDED.*\[libarenac\.so\.$version\]" || fail "the program does not need the shared library"
nm -D --defined-only "$build/libarenac.so" | awk '{ print $3 }' | sed 's/@.*//' >symbols
grep -q '^arenac_open' symbols
! grep -v '^arenac_' symbols || fail "the shared library exports more than arenac_*"
./use "$models/digits_int8.tflite" nowhere.tflite >said
"$arenac" compile -q -t cortex-m4 "$models/digits_int8.tflite" -o wanted.c
grep -v '^ \* options: ' out.c | sed 's/out\.h/wanted.h/' >out.txt
grep -v '^ \* options: ' wanted.c | diff - out.txt >diff.txt || fail "another text: $(head diff.txt)"
[ "$(sed -n 1p said)" -gt 0 ] && grep -q '^3 nowhere.tflite: error\[E0301\]' said || fail "said: $(cat said)"
