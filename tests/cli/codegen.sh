#!/bin/sh
# Generated C of every model here: compiles without a warning with gcc and clang under strict flags, needs no symbol but
# memcpy, memset and memmove even at -O0, is the same in two runs and from two folders, and two models link into one program.
# usage: codegen.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
require gcc gcc nm binutils
compilers
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes -Werror"
n=0
for m in "$src"/models/*.tflite "$src"/models/*.ag; do
    name=$(basename "$m" | tr '.' '_')
    mkdir "$tmp/a" "$tmp/b"
    (cd "$tmp/a" && "$arenac" compile -q "$m" --name "$name" --weights rodata -o "$name.c")
    cp "$m" "$tmp/b/"
    (cd "$tmp/b" && "$arenac" compile -q "$(basename "$m")" --name "$name" --weights rodata -o "$name.c")
    cmp "$tmp/a/$name.c" "$tmp/b/$name.c"
    cmp "$tmp/a/$name.h" "$tmp/b/$name.h"
    for c in $cc; do
        # shellcheck disable=SC2086
        $c $flags -O0 -c "$tmp/a/$name.c" -o "$tmp/$name.$c.o"
        # shellcheck disable=SC2086
        $c $flags -O2 -c "$tmp/a/$name.c" -o "$tmp/o2.o"
        extra=$(nm -u "$tmp/$name.$c.o" | awk '{ print $2 }' | grep -vxE 'memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_' || true)
        [ -z "$extra" ] || { echo "$name ($c -O0) needs: $extra"; exit 1; }
    done
    rm -r "$tmp/a" "$tmp/b"
    n=$((n + 1))
done
[ $n -ge 6 ] || { echo "only $n models found"; exit 1; }
m=$src/models/branch_int8.tflite
for weights in rodata asm; do # sections of code and weights, as asked for or as the user's own macros say
    (cd "$tmp" && "$arenac" compile -q "$m" --name s --weights $weights --section code=.itcm --section rodata=.qspi -o s.c &&
        gcc -std=gnu99 -Wall -Wextra -Werror -O1 -c s.c -o s.o)
    for want in .itcm .qspi; do
        objdump -h "$tmp/s.o" | grep -q " $want " || { echo "no section $want with --weights $weights"; exit 1; }
    done
done
(cd "$tmp" && gcc '-DS_SECTION_FAST=__attribute__((section(".mine")))' -O1 -c s.c -o s.o)
objdump -h "$tmp/s.o" | grep -q ' .mine ' && ! objdump -h "$tmp/s.o" | grep -q ' .itcm ' || { echo "the user's section is not taken"; exit 1; }
printf 'int main(void) { return 0; }\n' >"$tmp/main.c"
gcc "$tmp/main.c" "$tmp"/*.gcc.o -o "$tmp/all" # no symbol is defined twice
echo "$n models"
