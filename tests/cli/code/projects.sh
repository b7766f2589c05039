#!/bin/sh
# --emit zephyr, espidf, arduino, platformio, cmsis-pack, cmake and make: each folder builds as it is, and its self-test
# passes. Zephyr's and ESP-IDF's files run with stubs of the functions that they call; library.properties, library.json
# and the .pdsc are held against what their specifications ask for ($PACK_XSD: the schema of CMSIS-Pack).
# usage: projects.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc make make cmake cmake
cc=${CC:-cc}
kinds="zephyr espidf arduino platformio cmsis-pack cmake make"
for kind in $kinds; do
    expect 0 'Written' "$arenac" compile "$models/digits_int8.tflite" --emit "$kind" --name kws -o "new/$kind"
done
! grep -q 'Compile it with' out.txt || fail "a command that lacks the include path"
m=$models/digits_int8.tflite
strict="-std=c99 -O2 -Wall -Wextra -Wpedantic -Werror"

# --- make: a model with a state, one in two memories, a large one; sections take no bytes of the image
"$arenac" compile -q "$src/tests/golden/c/state.ag" --emit make -o stateful || fail "state"
"$arenac" compile -q "$models/branch_int8.tflite" --emit make --mem 'tcm:4K,fast' --mem 'big:1M,slow' -o two ||
    fail "two"
printf 'graph big {\n  input x: f32[1,600]\n  const w: f32[600,600] = random 1\n' >big.ag
printf '  y = fully_connected(x, w)\n  output y\n}\n' >>big.ag
"$arenac" compile -q big.ag --emit make -o large || fail "large"
for folder in new/make stateful two large; do
    make -C $folder selftest CFLAGS="$strict" >log.txt 2>&1 || { cat log.txt; fail "make in $folder"; }
    $folder/selftest | grep -q 'all outputs are equal' || fail "self-test of $folder"
done
make -C new/make clean >/dev/null
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    "$arenac" compile -q "$models/digits_int8.tflite" --emit make -t cortex-m4 -o arm || fail "arm"
    mkdir host
    printf '#!/bin/sh\necho "the archiver of the host" >&2\nexit 1\n' >host/ar
    chmod +x host/ar
    PATH=$tmp/host:$PATH make -C arm SECTION=.bss.dtcm CC=arm-none-eabi-gcc CFLAGS="-mcpu=cortex-m4 -mthumb $strict" \
        >log.txt 2>&1 || { cat log.txt; fail "make for arm"; }
    arm-none-eabi-objdump -h arm/src/digits_int8_memory.o >sections.txt
    grep -A1 ' \.bss\.dtcm ' sections.txt | grep -q CONTENTS && fail "the arena takes bytes of the image"
    grep -q ' \.bss\.dtcm ' sections.txt || fail "the arena is not in its section"
fi

# --- cmake
cmake -S new/cmake -B cm -DCMAKE_C_FLAGS="$strict" -DKWS_SECTION=.noinit.kws >log.txt &&
    cmake --build cm >log.txt 2>&1 || { cat log.txt; fail "cmake"; }
(cd cm && ctest >log.txt) || fail "the test of cmake"
objdump -h cm/libkws.a | grep -q ' \.noinit\.kws ' || fail "cmake: the arena is not in its section"

# A part of another project, and firmware without stdio, do not get the program; src/kws.selftest.c is theirs to link.
mkdir whole
printf 'int main(void)\n{\n    return 0;\n}\n' >whole/app.c
cat >whole/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.13)
project(whole C)
add_subdirectory(${FOLDER} model)
add_executable(app app.c)
target_link_libraries(app PRIVATE kws)
X
part() { # FOLDER OPTION...: builds the whole of it
    folder=$1
    shift
    rm -rf wb
    cmake -S whole -B wb -DFOLDER="$tmp/$folder" "$@" >log.txt 2>&1 && cmake --build wb >>log.txt 2>&1 ||
        { cat log.txt; fail "add_subdirectory($folder) $*"; }
}
part new/cmake
[ ! -e wb/model/kws_selftest ] || fail "cmake: a part of another project builds the self-test"
part new/cmake -DKWS_SELFTEST=ON
[ -x wb/model/kws_selftest ] || fail "cmake: KWS_SELFTEST=ON builds no self-test"
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    cat >arm.cmake <<'X'
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
X
    "$arenac" compile -q "$models/digits_int8.tflite" --emit cmake --name kws -t cortex-m4 -o bare || fail "bare"
    sed -i '$d' whole/CMakeLists.txt
    printf 'target_link_libraries(app PRIVATE kws -nostartfiles -Wl,-emain)\n' >>whole/CMakeLists.txt
    part bare -DCMAKE_TOOLCHAIN_FILE="$tmp/arm.cmake"
    cmake -S bare -B bb -DCMAKE_TOOLCHAIN_FILE="$tmp/arm.cmake" >log.txt 2>&1 && cmake --build bb >>log.txt 2>&1 ||
        { cat log.txt; fail "cmake of firmware, alone"; }
fi

# --- Zephyr and ESP-IDF, with stubs
mkdir stub
cat >stub/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.13)
project(stub C)
set(includes)
macro(zephyr_include_directories)
  foreach(d ${ARGN})
    list(APPEND includes ${CMAKE_CURRENT_SOURCE_DIR}/${d})
  endforeach()
  set(includes ${includes} PARENT_SCOPE)
endmacro()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
  target_include_directories(${name} PUBLIC ${includes})
endmacro()
macro(zephyr_library_sources)
  foreach(f ${ARGN})
    target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${f})
  endforeach()
endmacro()
macro(zephyr_library_sources_ifdef feature)
  if(${feature})
    zephyr_library_sources(${ARGN})
  endif()
endmacro()
macro(zephyr_library_compile_definitions)
  target_compile_definitions(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
function(idf_component_register)
  cmake_parse_arguments(c "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  set(COMPONENT_LIB idf_model)
  set(COMPONENT_LIB idf_model PARENT_SCOPE)
  foreach(f ${c_SRCS})
    list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${f})
  endforeach()
  add_library(idf_model STATIC ${files})
  target_include_directories(idf_model PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/${c_INCLUDE_DIRS})
endfunction()
foreach(o IN ITEMS "" _SELFTEST)
  set(CONFIG_ARENAC_KWS${o} y)
endforeach()
set(CONFIG_ARENAC_KWS_SECTION .noinit.kws)
add_subdirectory(${KIND} model)
add_executable(app ${EXAMPLE})
target_link_libraries(app PRIVATE $<IF:$<TARGET_EXISTS:idf_model>,idf_model,arenac_kws> m)
X
for kind in zephyr espidf; do
    cmake -S stub -B "b$kind" -DKIND="$tmp/new/$kind" -DEXAMPLE="$tmp/new/cmake/examples/selftest.c" \
        -DCMAKE_C_FLAGS="$strict" >log.txt 2>&1 && cmake --build "b$kind" >>log.txt 2>&1 ||
        { cat log.txt; fail "$kind does not build"; }
    "b$kind/app" | grep -q 'all outputs are equal' || fail "self-test of $kind"
    objdump -h "b$kind"/model/lib*.a | grep -q ' \.noinit\.kws ' || fail "$kind: the arena is not in its section"
    # each symbol of Kconfig that the CMake file reads is declared, and none else
    grep -o 'CONFIG_ARENAC_KWS[A-Z_]*' "new/$kind/CMakeLists.txt" | sed 's/CONFIG_//' | sort -u >read.txt
    sed -n 's/^ *\t*config //p' "new/$kind/Kconfig" | sort -u >declared.txt
    cmp -s read.txt declared.txt || { cat read.txt declared.txt; fail "$kind: Kconfig and CMakeLists.txt differ"; }
done

# --- Arduino: every file of src/ is compiled with src/ alone on the include path; the sketch is C++
for f in new/arduino/src/*.c; do
    # shellcheck disable=SC2086
    $cc $strict -Inew/arduino/src -c "$f" -o "$(basename "$f" .c).arduino.o" || fail "Arduino: $f"
done
for key in name version author maintainer sentence paragraph category url architectures; do
    grep -q "^$key=." new/arduino/library.properties || fail "library.properties has no $key"
done
grep -q '^version=[0-9]*\.[0-9]*\.[0-9]*$' new/arduino/library.properties || fail "library.properties: version"
category=$(sed -n 's/^category=//p' new/arduino/library.properties)
case $category in
Display | Communication | "Signal Input/Output" | Sensors | "Device Control" | Timing | "Data Storage" | \
    "Data Processing" | Other) ;;
*) fail "Arduino has no category $category" ;;
esac
for f in $(sed -n 's/^includes=//p' new/arduino/library.properties | tr , ' '); do
    [ -e "new/arduino/src/$f" ] || fail "library.properties includes $f"
done
if have c++ g++; then
    cat >sketch.cpp <<'X'
#include <stdio.h>
struct Port {
    void begin(long) {}
    operator bool() { return true; }
    void println(const char *s) { puts(s); }
    void print(unsigned long n) { printf("%lu", n); }
} Serial;
unsigned long micros() { return 0; }
#include "new/arduino/examples/selftest/selftest.ino"
int main() { setup(); loop(); }
X
    c++ -Wall -Wextra -I. -Inew/arduino/src sketch.cpp ./*.arduino.o -lm -o sketch || fail "the sketch does not build"
    ./sketch | grep -q 'all outputs are equal' || fail "the sketch"
fi

# --- PlatformIO and CMSIS-Pack: the files that their manifests name, built by what these say
if have python3 python3; then
    python3 - >list.txt <<'X' || fail "a manifest"
import json, os, re, xml.etree.ElementTree as xml
lib = json.load(open("new/platformio/library.json"))
assert re.fullmatch(r"[a-z0-9_-]{1,50}", lib["name"]) and re.fullmatch(r"\d+\.\d+\.\d+", lib["version"])
src, include = lib["build"]["srcDir"], lib["build"]["includeDir"]
assert all(os.path.exists(f"new/platformio/{include}/{h}") for h in lib["headers"])
assert all(os.path.exists(f"new/platformio/{e['base']}/{f}") for e in lib["examples"] for f in e["files"])
print("new/platformio", include, *(f"{src}/{f}" for f in os.listdir(f"new/platformio/{src}")), "examples/selftest.c")
pack = xml.parse("new/cmsis-pack/arenac.kws.pdsc").getroot()
assert pack.find("vendor").text + "." + pack.find("name").text + ".pdsc" == "arenac.kws.pdsc"
assert [e.tag for e in pack][:4] == ["vendor", "name", "description", "url"]
files = list(pack.iter("file"))
for c in pack.iter("component"):
    assert {"Cclass", "Cgroup", "Cversion"} <= set(c.attrib) and c.find("description").text
assert all(os.path.exists("new/cmsis-pack/" + f.get("name")) for f in files)
inside = {os.path.relpath(os.path.join(d, f), "new/cmsis-pack") for d, _, fs in os.walk("new/cmsis-pack") for f in fs}
assert inside - {f.get("name") for f in files} == {"arenac.kws.pdsc"}
print("new/cmsis-pack", *(f.get("name") for f in files if f.get("category") == "include"),
      *(f.get("name") for f in files if f.get("category") == "source"))
X
    while read -r folder include files; do
        # shellcheck disable=SC2086
        (cd "$folder" && $cc $strict -I"$include" $files -lm -o app && ./app) | grep -q 'all outputs are equal' ||
            fail "$folder"
    done <list.txt
fi
[ -z "${PACK_XSD:-}" ] || xmllint --noout --schema "$PACK_XSD" new/cmsis-pack/arenac.kws.pdsc || fail "the schema"

# --- several models in one arena, and several sizes of one: every system's folder has all, and a self-test of all
printf 'graph open {\n  input x: f32[n,6]\n  const w: f32[5,6] = random 3\n' >open.ag
printf '  y = fully_connected(x, w, _) act=relu\n  output y\n}\n' >>open.ag
together() { # FOLDER ARGUMENT...: builds with make and with CMake
    all=$1
    shift
    "$arenac" compile -q "$@" --emit make --vectors 2 -o "$all" || { fail "$*"; return; }
    make -C "$all" selftest CFLAGS="$strict" >log.txt 2>&1 || { cat log.txt; fail "make of $*"; }
    "$all/selftest" | grep -q "all outputs are equal" || fail "self-test of $*"
}
together both "$m" "$src/tests/golden/c/state.ag" --share exclusive
together apart "$m" "$src/tests/golden/c/state.ag" --share concurrent
together sizes open.ag --dim n=1..3
for f in digits_int8 state apart; do
    [ -e "apart/src/$f.selftest.c" ] && [ -e "apart/include/$f.h" ] || fail "the folder of several models has no $f"
done
# a wrong expectation is seen
line=$(grep -n 'output0\[2\]' apart/src/digits_int8.selftest.c | cut -d: -f1)
sed -i "$((line + 2))s/-\{0,1\}[0-9][0-9]*,/77,/" apart/src/digits_int8.selftest.c
make -C apart selftest >log.txt 2>&1 && apart/selftest | grep -q 'an output differs' ||
    fail "a wrong output is not seen"
"$arenac" compile -q "$m" "$src/tests/golden/c/state.ag" --share concurrent \
    --emit zephyr,espidf,arduino,cmake,cmsis-pack,platformio -o every || fail "all kinds of folders"
cmake -S every -B ev -DCMAKE_C_FLAGS="$strict" >log.txt && cmake --build ev >log.txt 2>&1 &&
    (cd ev && ctest >log.txt) ||
    { cat log.txt; fail "cmake of several models"; }
for f in $(sed -n 's/.*category="[a-z]*" name="\([^"]*[^/]\)".*/\1/p' every/arenac.every.pdsc); do
    [ -e "every/$f" ] || fail "the .pdsc names $f"
done
[ "$(grep -c 'category="source" name="src/' every/arenac.every.pdsc)" = 6 ] || fail "the .pdsc lacks files"

# --- GPUs: kernels by nvcc where it is, else C of the host's part
"$arenac" compile -q "$m" -t cuda-sm80 --emit make,cmake --name gpu -o gpu || fail "folders for GPUs"
nvcc=$(command -v nvcc) switch=ON
[ -n "$nvcc" ] || switch=OFF
cmake -S gpu -B gb -DGPU_NVCC=$switch >log.txt && cmake --build gb >log.txt 2>&1 ||
    { cat log.txt; fail "cmake for a GPU"; }
make -C gpu NVCC="$nvcc" >log.txt 2>&1 || { cat log.txt; fail "make for a GPU"; }
cat >gpu.c <<'EOC'
#include "gpu.h"
#include <stdio.h>
int main(void)
{
    const char *why = "open";
    gpu_gpu *g = gpu_open(NULL, NULL, &why);
    puts(why);
    return !g;
}
EOC
for library in gb/libgpu.a gpu/libgpu.a; do
    "${nvcc:-${CC:-cc}}" -Igpu/include -o app gpu.c $library -ldl || fail "a program with $library"
    ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || ./app | grep -q 'no NVIDIA driver' ||
        fail "$library without a driver"
done

# --- refusals
expect 2 'writes a folder: name it with -o' "$arenac" compile "$m" --emit make -o -
expect 8 'cannot have weights beside its C' "$arenac" compile "$m" --emit make --weights blob -o no
expect 8 'cannot have inputs and outputs of the caller' "$arenac" compile "$m" --emit zephyr --host -o no
expect 8 'cannot have code for GPUs' "$arenac" compile "$m" --emit zephyr -t cuda-sm80 -o no
[ ! -e no ] || fail "a folder of what cannot be"
expect 4 'over its budget' "$arenac" compile "$m" --emit make --budget 100 -o no
[ ! -e no ] || fail "a folder of a plan over its budget"
echo >plain
expect 3 'cannot create the folder' "$arenac" compile "$m" --emit make -o plain
"$arenac" compile -q "$m" --emit make,svg -o both && [ -e both.svg ] && [ -e both/Makefile ] ||
    fail "with other kinds"
"$arenac" compile -q "$m" --emit make && [ -e digits_int8/Makefile ] || fail "without -o"
exit $bad
