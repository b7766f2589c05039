#!/bin/sh
# --share-kernels: steps that differ in whole numbers only call one function; the results keep their bits with every
# backend, with threads, in place and as stripes; the generated C has no warning and gets smaller. tests/golden/c has
# it. usage: share.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
cat >m.ag <<'M'
graph m {
  input  x: i8[1,13,11,8] q(0.05, 3)
  const  w1: i8[16,3,3,8] q(0.01, 0) = random 1 (-127, 127)
  const  b1: i32[16] q(0.0005, 0) = random 2 (-500, 500)
  const  w2: i8[24,3,3,16] q(0.01, 0) = random 3 (-127, 127)
  const  b2: i32[24] q(0.0005, 0) = random 4 (-500, 500)
  const  w3: i8[8,3,3,24] q(0.01, 0) = random 5 (-127, 127)
  const  b3: i32[8] q(0.0005, 0) = random 6 (-500, 500)
  const  w4: i8[8,3,3,8] q(0.01, 0) = random 7 (-127, 127)
  a: i8[1,13,11,16] q(0.05, -5) = conv_2d(x, w1, b1) padding=same act=relu "one"
  b: i8[1,13,11,24] q(0.05, -5) = conv_2d(a, w2, b2) padding=same act=relu "two"
  c: i8[1,13,11,8] q(0.05, -7) = conv_2d(b, w3, b3) padding=same act=relu "three"
  d: i8[1,13,11,8] q(0.05, 4) = conv_2d(c, w4, _) padding=same "four"
  e: i8[1,13,11,8] q(0.06, 4) = add(d, c) "sum"
  output e
}
M
runs() { # MODEL OPTIONS...
    model=$1
    shift
    "$arenac" run -q "$model" --random 5 "$@" --output-dir plain
    "$arenac" run -q "$model" --random 5 "$@" --share-kernels --output-dir shared
    cmp plain/0.npy shared/0.npy || die "$model $*: the result changes"
}
runs m.ag -t generic
runs m.ag -t generic --backend eval
runs m.ag -t generic --backend eval --stripe auto
runs m.ag -t generic --backend eval --threads 3
runs m.ag -t native --backend eval
cat >sizes.ag <<'M' # the same elements of operands of different sizes: no numbers are left to pass
graph sizes {
  input  x: f32[9,4]
  input  z: f32[5,4]
  a: f32[3,4] = slice(x) begin=[1,0] size=[3,4]
  b: f32[3,4] = slice(z) begin=[1,0] size=[3,4]
  output a, b
}
M
runs sizes.ag -t generic --views off --backend eval
runs sizes.ag -t generic --views off --backend c
runs "$models/dsnet_int8.tflite" -t generic --backend eval
runs "$models/branch_f32.tflite" -t generic --backend eval
! have_llvm || runs m.ag -t generic --backend llvm
flags="-std=c99 -O2 -fno-inline -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
"$arenac" compile -q m.ag --name m -o m.c
"$arenac" compile -q m.ag --name m --share-kernels -o s.c
[ "$(grep -c 'm_conv_2d_[0-9]*(const' m.c)" = 4 ] || die "the plain code has no four functions"
[ "$(grep -c 'm_conv_2d_[0-9]*(const' s.c)" = 2 ] || die "the first three convolutions are not shared"
grep -q 'shape\[' s.c || die "no numbers are read"
grep -q -- '--share-kernels' s.h || die "the header does not name the option"
for c in m s; do
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -I. -c "$c.c" -o "$c.o" || die "$c.c has warnings"
done
size_of() { # OBJECT: bytes of its code
    bytes=0
    for hex in $(nm -S "$1" | awk 'NF == 4 && tolower($3) == "t" { print $2 }'); do bytes=$((bytes + 0x$hex)); done
    echo $bytes
}
! have nm binutils || [ "$(size_of s.o)" -lt "$(size_of m.o)" ] || die "the code is not smaller"
cat >points.ag <<'M'
graph points {
  input  x: i8[1,12,12,16] q(0.05, 3)
  const  w1: i8[32,1,1,16] q(0.01, 0) = random 1 (-127, 127)
  const  w2: i8[48,1,1,32] q(0.01, 0) = random 2 (-127, 127)
  const  w3: i8[16,1,1,48] q(0.01, 0) = random 3 (-127, 127)
  a: i8[1,12,12,32] q(0.05, -5) = conv_2d(x, w1, _) act=relu "one"
  b: i8[1,12,12,48] q(0.05, -5) = conv_2d(a, w2, _) act=relu "two"
  c: i8[1,12,12,16] q(0.05, -5) = conv_2d(b, w3, _) act=relu "three"
  output c
}
M
firmware() { # FILE OPTIONS...: are numbers read from tables?
    file=$1
    shift
    "$arenac" compile -q points.ag -t cortex-m4 --name m -o "$file" "$@"
    grep -q 'shape\[' "$file"
}
firmware f.c --share-kernels || die "firmware: nothing is shared"
firmware f.c --share-kernels=on || die "firmware, =on: nothing is shared"
! firmware f.c --share-kernels=off || die "firmware, =off: kernels are shared"
firmware f.c || die "firmware: sharing is not the default"
grep -v options f.c >default.txt
firmware f.c --share-kernels=auto
grep -v -e options -e '--share-kernels=auto' f.c | cmp -s - default.txt || die "auto is not the default of firmware"
kernels() { # WORD: how many the report counts
    "$arenac" plan -q --json points.ag -t cortex-m4 --share-kernels="$1" | tr -d ' ,' | sed -n 's/"kernels"://p'
}
[ "$(kernels on)" = "$(kernels auto)" ] && [ "$(kernels on)" -lt "$(kernels off)" ] ||
    die "the report does not count shared kernels once"
# targets with vectors: where there is much code
chain() { # LAYERS: each with a scale and a zero point of its own
    echo 'graph chain { input t0: i8[1,9,9,24] q(0.05, 3)'
    for k in $(seq 1 "$1"); do
        echo "const w$k: i8[1,7,7,24] q(0.01, 0) = random $k (-127, 127)"
        echo "t$k: i8[1,9,9,24] q(0.0$((k % 89 + 10)), $((k % 100 - 50))) =" \
            "depthwise_conv_2d(t$((k - 1)), w$k, _) padding=same"
    done
    echo "output t$1 }"
}
code() { # LAYERS OPTIONS...: bytes of C, without the options that it names
    chain "$1" >chain.ag
    shift
    "$arenac" compile -q chain.ag -t x86-64-v3 --name m -o chain.c "$@"
    grep -v options chain.c | wc -c
}
[ "$(code 20)" = "$(code 20 --share-kernels=off)" ] || die "kernels of a small model are shared for vectors"
[ "$(code 150)" = "$(code 150 --share-kernels=auto)" ] || die "auto is not the default for much code"
[ "$(code 150)" -lt $(($(code 150 --share-kernels=off) * 3 / 4)) ] || die "sharing much code does not save a quarter"
runs chain.ag -t native --backend eval
echo "kernels are shared"
