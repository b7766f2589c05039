#!/bin/sh
# `cmake --install` gives a tool that works from its new place, man pages, and a library and runtime that another
# project finds through CMake and pkg-config. usage: install.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
case $build in *asan*) echo "skipped: the release build is what people install"; exit 77 ;; esac
require cmake cmake
cmake --install "$build" --prefix "$tmp/a place" >/dev/null
p="$tmp/a place"
backends="c"
[ ! -e "$build/arenac-llvm.so" ] || backends="c llvm" # found in the install prefix
m=$models/digits_int8
for backend in $backends; do
    "$p/bin/arenac" run -q --backend $backend "$m.tflite" --input 0="$m.in0.0.npy" --compare 0="$m.out0.0.npy"
done
for verb in $("$arenac" help | sed -n 's/^  arenac \([a-z]*\) .*/\1/p'); do
    zcat -f "$p/share/man/man1/arenac-$verb.1"* | grep -q 'SH SYNOPSIS' || die "no manual page of $verb"
done
zcat -f "$p"/share/man/man1/arenac.1* | grep -q 'SH SYNOPSIS'
for f in bash-completion/completions/arenac zsh/site-functions/_arenac fish/vendor_completions.d/arenac.fish; do
    [ -s "$p/share/$f" ] || die "no $f"
done
mkdir user
cat >user/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(arenac REQUIRED)
add_executable(user user.c)
target_link_libraries(user arenac::library arenac::arn_rt)
X
cat >user/user.c <<'X'
#include <arenac.h>
#include <arn_rt.h>

int main(int argc, char **argv)
{
    arenac *a = arenac_open();
    const char *model[] = {argv[argc - 1]};
    if (argc != 2 || !a || !arn_version()[0])
        return 1;
    int64_t bytes = 0;
    if (arenac_set(a, "align", "64") == 0 && arenac_read(a, model, 1) == 0 && arenac_load(a) == 0) {
        signed char *x = arenac_input(a, 0, &bytes);
        for (int64_t i = 0; i < bytes; i++)
            x[i] = (signed char)i;
        if (arenac_run(a) == 0 && arenac_report(a) == 0)
            arenac_commit(a);
    }
    arenac_print_diagnostics(a, stderr, false);
    const int status = arenac_exit(a);
    arenac_close(a);
    return status || bytes == 0;
}
X
cmake -S user -B user/build -DCMAKE_PREFIX_PATH="$p" >/dev/null
cmake --build user/build >/dev/null
user/build/user "$models/digits_int8.tflite" | grep -q 'RAM  arena'
# The planner library and its example, through CMake and through pkg-config.
mkdir pack
cat >pack/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(pack C)
find_package(arenac REQUIRED)
add_executable(pack ${EXAMPLE})
target_link_libraries(pack arenac::planner)
X
cmake -S pack -B pack/build -DCMAKE_PREFIX_PATH="$p" -DEXAMPLE="$p/share/arenac/examples/pack.c" >/dev/null
cmake --build pack/build >/dev/null
pack=$tmp/pack/build/pack
"$pack" 2>/dev/null >pipeline.txt
grep -q '^frame,0,2,65536,1,0$' pipeline.txt && grep -q '^luma,.*,0,[0-9]*$' pipeline.txt
printf 'id,lower,upper,size\na,0,2,64\nb,1,4,32\nc,2,4,64\n' >p.csv
"$pack" p.csv 2>note >plan.csv
grep -q '^96 bytes, optimal' note
"$p/bin/arenac" verify plan.csv | grep -q safe
expect 4 '' "$pack" p.csv 95
lib=$(dirname "$(find "$p" -name libarenac.a)")
if have pkg-config pkg-config; then
    export PKG_CONFIG_PATH="$lib/pkgconfig"
    pkg-config --exists arenac && pkg-config --libs arenac | grep -q larenac
    # the prefix of a .pc file is that of the configuration: point it here
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c99 -Wall -Wextra -pedantic "$p/share/arenac/examples/pack.c" -I"$p/include" -L"$lib" \
        $(pkg-config --libs-only-l arenac-planner) -o by_pc
    ./by_pc p.csv >/dev/null 2>&1
fi
