#!/bin/sh
# C for firmware as people and compilers read it: no line over 120 columns, names in comments shortened but unique, no
# warning with gcc, clang and arm-none-eabi-gcc; and results equal those of plain C. usage: readable.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
require gcc gcc
compilers
! have arm-none-eabi-gcc gcc-arm-none-eabi || cc="$cc arm-none-eabi-gcc"
flags="-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes -Werror"
long=a_model_whose_own_name_is_longer_than_it_has_to_be_but_legal
checked=0 name=m
check() { # FILE OPTION...
    file=$1
    shift
    "$arenac" compile -q "$file" --name $name --weights rodata "$@" -o $name.c || { fail "compile $file $*"; return; }
    awk 'length > 120 { print FILENAME ":" FNR ": " $0; wide = 1 } END { exit wide }' $name.c $name.h ||
        fail "lines over 120 columns: $file $*"
    for c in $cc; do
        # shellcheck disable=SC2086
        $c $flags -O1 -c $name.c -o m.o || fail "$c: $file $*"
    done
    checked=$((checked + 1))
}
for m in "$models"/*.tflite "$models"/*.ag "$src"/tests/cross/*.ag "$src"/tests/golden/c/[a-r]*.ag; do
    grep -q '^# arenac.*\(--mem\|--custom\|--host\|x86\|--threads\)' "$m" || check "$m" -t cortex-m4
done
name=$long
check "$models/dsnet_int8.tflite" -t cortex-m0plus --stripe auto
check "$models/dsnet_int8.tflite" -t rv32imac --io rows --share-kernels
[ $checked -ge 20 ] || fail "only $checked files"

x='net/a/Relu;net/b/FusedBatchNormV3;net/conv2d_11/BiasAdd/ReadVariableOp/resource;net/conv2d_11/Conv2D'
y='net/b/Relu;net/b/FusedBatchNormV3;net/conv2d_12/BiasAdd/ReadVariableOp/resource;net/conv2d_12/Conv2D'
cat >names.ag <<END
graph names {
  input "$x": f32[4]
  "$y" = relu("$x")
  output "$y"
}
END
"$arenac" compile -q names.ag --name m -t cortex-m4 -o m.c || fail names.ag
grep -q "^ \* step 0: relu 'b/Relu': a/Relu f32 \[4\] at 0x[0-9a-f]* -> f32 \[4\] at 0x[0-9a-f]*$" m.c ||
    { fail "names are not cut"; cat m.c; }
! grep -q FusedBatchNorm m.c || fail "fused names are shown"

# Requantisation is written once
"$arenac" compile -q "$models/dsnet_int8.tflite" --name m -t cortex-m4 --weights rodata -o m.c || fail dsnet_int8
[ "$(grep -c '(int64_t).* >> 32)' m.c)" = "$(grep -c 'static inline int32_t \(scaled\|high\|high_sum\)_i32' m.c)" ] ||
    fail "products of requantisation are written out: $(grep '(int64_t).* >> 32)' m.c)"

# The same bits as plain C on all types, square roots without an instruction for them
"$arenac" compile -q "$src/tests/cross/types.ag" --name plain -t generic -o plain.c &&
    "$arenac" compile -q "$src/tests/cross/types.ag" --name strict -t cortex-m0plus -o strict.c || die types.ag
n=$(sed -n 's/^#define STRICT_OUTPUTS //p' strict.h)
{
    cat <<'END'
#include "plain.h"
#include "strict.h"
#include <stdio.h>
#include <string.h>
static _Alignas(64) unsigned char a[PLAIN_ARENA_BYTES], b[STRICT_ARENA_BYTES];
static const uint32_t odd[] = {0, 0x80000000u, 1, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                               0x7f7fffff, 0x4b000001, 0x3effffff, 0x3f000000, 0xc0200000, 0x477fefff, 0x33000001};
static uint32_t seed = 1;
static uint32_t next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8 ^ seed << 9;
}
int main(void)
{
    const plain_mem p = {.arena = a};
    const strict_mem s = {.arena = b};
    int bad = 0;
    for (int round = 0; round < 3000; round++) {
        for (int k = 0; k < 4; k++) {
            uint32_t bits = round < 16 ? odd[(round + k) % 16] : next();
            if ((bits & 0x7f800000u) == 0x7f800000u && (bits & 0x7fffffu))
                bits = 0; /* a NaN has no one pattern */
            memcpy(plain_in0(&p) + k, &bits, 4);
            plain_in1(&p)[k] = (uint8_t)next();
            plain_in2(&p)[k] = (int32_t)next();
            plain_in3(&p)[k] = next() & 1;
            plain_in4(&p)[k] = (int64_t)((uint64_t)next() << 32 | next());
            plain_in5(&p)[k] = (uint16_t)next();
        }
END
    for i in 0 1 2 3 4 5; do
        echo "        memcpy(strict_in$i(&s), plain_in$i(&p), PLAIN_IN${i}_BYTES);"
    done
    echo '        if (plain_run(&p) || strict_run(&s))
            return 2;'
    i=0
    while [ $i -lt "$n" ]; do
        echo "        if (memcmp(plain_out$i(&p), strict_out$i(&s), PLAIN_OUT${i}_BYTES))
            bad |= puts(\"output $i\") >= 0;"
        i=$((i + 1))
    done
    echo '    }
    return bad;
}'
} >main.c
[ "$n" -ge 20 ] || fail "types.ag has $n outputs"
gcc -std=c11 -O1 -U__SSE2__ main.c plain.c strict.c -o both || die both
./both >differ || fail "firmware code differs from plain code on all types: $(sort -u differ | tr '\n' ' ')"
