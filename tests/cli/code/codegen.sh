#!/bin/sh
# Generated C of every model here: compiles without a warning with gcc and clang under strict flags (firmware's: with
# the core's gcc), needs no symbol but memcpy, memset and memmove even at -O0, is the same in two runs and from two
# folders, and two models link into one program. usage: codegen.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require gcc gcc nm binutils
compilers
flags="-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes -Werror"
allowed='memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_'
n=0
for m in "$models"/*.tflite "$models"/*.ag; do
    name=$(basename "$m" | tr '.' '_')
    mkdir a b
    (cd a && "$arenac" compile -q "$m" --name "$name" --weights rodata -o "$name.c")
    cp "$m" b/
    (cd b && "$arenac" compile -q "$(basename "$m")" --name "$name" --weights rodata -o "$name.c")
    cmp "a/$name.c" "b/$name.c"
    cmp "a/$name.h" "b/$name.h"
    for c in $cc; do
        # shellcheck disable=SC2086
        $c $flags -O0 -c "a/$name.c" -o "$name.$c.o"
        # shellcheck disable=SC2086
        $c $flags -O2 -c "a/$name.c" -o o2.o
        extra=$(nm -u "$name.$c.o" | awk '{ print $2 }' | grep -vxE "$allowed" || true)
        [ -z "$extra" ] || die "$name ($c -O0) needs: $extra"
    done
    rm -r a b
    n=$((n + 1))
done
[ $n -ge 6 ] || die "only $n models found"
m=$models/branch_int8.tflite
for weights in rodata asm; do # sections of code and weights, as asked for or as the user's own macros say
    "$arenac" compile -q "$m" --name s --weights $weights --section code=.itcm --section rodata=.qspi -o s.c
    gcc -std=gnu99 -Wall -Wextra -Werror -O1 -c s.c -o s.o
    for want in .itcm .qspi; do
        objdump -h s.o | grep -q " $want " || die "no section $want with --weights $weights"
    done
done
gcc '-DS_SECTION_FAST=__attribute__((section(".mine")))' -O1 -c s.c -o s.o
objdump -h s.o | grep -q ' .mine ' && ! objdump -h s.o | grep -q ' .itcm ' || die "the user's section is not taken"
printf '#include <stddef.h>\n#include "s.h"\nint main(void) { return s_init(NULL) != S_EALIGN; }\n' >init.c
for weights in rodata blob; do
    "$arenac" compile -q "$m" --name s --weights $weights -o s.c
    gcc init.c s.c -o init
    ./init || die "init takes NULL with --weights $weights"
done
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    firm() { # TARGET OPTION...: the intrinsics of a core have types of their own
        for m in digits_int8 dsnet_int8; do
            "$arenac" compile -q "$models/$m.tflite" -t "$1" --stack estimate --name firm -o firm.c
            # shellcheck disable=SC2086
            arm-none-eabi-gcc $flags -O2 -mthumb -mcpu="$@" -c firm.c -o firm.obj
        done
    }
    firm cortex-m0plus
    firm cortex-m3
    firm cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16
    firm cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16
    firm cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16
    firm cortex-m55 -mfloat-abi=hard
fi
printf 'int main(void) { return 0; }\n' >main.c
gcc main.c ./*.gcc.o -o all # no symbol is defined twice
echo "$n models"
