#!/bin/sh
# C for firmware as people and compilers read it: no line over 120 columns, names in comments cut to what tells them
# apart, no warning with gcc, clang and arm-none-eabi-gcc. usage: readable.sh ARENAC SOURCE_DIR
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
    grep -q '^# arenac.*\(--mem\|--host\|x86\|--threads\)' "$m" || check "$m" -t cortex-m4
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
