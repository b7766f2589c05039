#!/bin/sh
# arenac_add_model of the installed CMake package: a program that links the code of a model gives the model's output, is
# built again when the model changes and not otherwise, for this machine and for another one. usage: add_model.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
case $build in *asan*) echo "skipped: the release build is what people install"; exit 77 ;; esac
require cmake cmake "${CC:-cc}" gcc
cmake --install "$build" --prefix "$tmp/a place" >/dev/null
mkdir app
m=digits_int8
cp "$models/$m.tflite" app/model.tflite
cat >app/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(arenac 0.2 REQUIRED)
arenac_add_model(kws MODEL model.tflite OPTIONS --weights asm --preserve input ${MORE})
arenac_add_model(second-one MODEL model.tflite NAME Other)
add_executable(app app.c)
target_link_libraries(app PRIVATE kws second-one)
X
cat >app/app.c <<'X'
#include <stdio.h>
#include "kws.h"
#include "other.h"
static _Alignas(KWS_ARENA_ALIGN) uint8_t arena[KWS_ARENA_BYTES];
int main(void)
{
    const kws_mem mem = {.arena = arena};
    if (kws_init(&mem) || fread(kws_in0(&mem), 1, KWS_IN0_BYTES, stdin) != KWS_IN0_BYTES || kws_run(&mem))
        return 1;
    fwrite(kws_out0(&mem), 1, KWS_OUT0_BYTES, stdout);
    return OTHER_ARENA_BYTES == 0;
}
X
generators="Unix Makefiles"
! command -v ninja >/dev/null || generators="$generators;Ninja"
IFS=';'
for generator in $generators; do
    unset IFS
    cmake -S app -B b -G "$generator" -DCMAKE_PREFIX_PATH="$tmp/a place" >/dev/null
    cmake --build b >log.txt || { cat log.txt; die "$generator"; }
    tail -c 64 "$models/$m.in0.0.npy" | b/app >out
    tail -c 10 "$models/$m.out0.0.npy" | cmp - out || fail "$generator: another output"
    cmake --build b >log.txt
    ! grep -q 'arenac: kws.c' log.txt || fail "$generator: built again though nothing changed"
    sleep 1
    cp "$models/dsnet_int8.tflite" app/model.tflite
    cmake --build b >log.txt
    grep -q 'arenac: kws.c' log.txt || fail "$generator: not built again for a new model"
    [ "$(head -c 576 /dev/zero | b/app | wc -c)" = 10 ] || fail "$generator: the new model does not run"
    cp "$models/$m.tflite" app/model.tflite
    rm -rf b
done
unset IFS
# errors stop the build, with the reason
expect 1 'unknown planner' sh -c "cmake -S app -B e -DCMAKE_PREFIX_PATH='$tmp/a place' '-DMORE=--planner;nosuch' &&
    cmake --build e || exit 1"
sed 's/MODEL model.tflite OPTIONS/MODEL nosuch.tflite OPTIONS/' app/CMakeLists.txt >l && mv l app/CMakeLists.txt
expect 1 'there is no model' cmake -S app -B e -DCMAKE_PREFIX_PATH="$tmp/a place"
sed 's/MODEL nosuch.tflite/-t generic MODEL model.tflite/' app/CMakeLists.txt >l && mv l app/CMakeLists.txt
expect 1 "unexpected argument" cmake -S app -B e -DCMAKE_PREFIX_PATH="$tmp/a place"

# for another machine: the tool is this one's
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    mkdir fw
    cp app/model.tflite fw
    cat >fw/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(fw C)
find_package(arenac REQUIRED)
arenac_add_model(kws MODEL model.tflite OPTIONS -t cortex-m4)
X
    cmake -S fw -B fw/b -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc \
        -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY -DCMAKE_C_FLAGS="-mcpu=cortex-m4 -mthumb" \
        -Darenac_DIR="$(dirname "$(find "$tmp/a place" -name arenacConfig.cmake)")" >log.txt || { cat log.txt; die fw; }
    cmake --build fw/b >log.txt || { cat log.txt; die "fw"; }
    arm-none-eabi-nm fw/b/libkws.a | grep -q ' T kws_run' || fail "no kws_run for the Cortex-M4"
fi
exit $bad
