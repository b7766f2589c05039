#!/bin/sh
# --share-kernels: steps that differ in whole numbers only call one function; the results keep their bits with every backend, with threads, in
# place and as stripes; the generated C has no warning and gets smaller.
# usage: share.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cat >"$tmp/m.ag" <<'M'
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
    "$arenac" run -q "$model" --random 5 "$@" --output-dir "$tmp/plain"
    "$arenac" run -q "$model" --random 5 "$@" --share-kernels --output-dir "$tmp/shared"
    cmp "$tmp/plain/0.npy" "$tmp/shared/0.npy" || fail "$model $*: the result changes"
}
runs "$tmp/m.ag" -t generic
runs "$tmp/m.ag" -t generic --backend eval
runs "$tmp/m.ag" -t generic --backend eval --stripe auto
runs "$tmp/m.ag" -t generic --backend eval --threads 3
runs "$tmp/m.ag" -t native --backend eval
runs "$src/models/dsnet_int8.tflite" -t generic --backend eval
runs "$src/models/branch_f32.tflite" -t generic --backend eval
if "$arenac" run -q "$tmp/m.ag" --random 5 --backend llvm >/dev/null 2>&1; then runs "$tmp/m.ag" -t generic --backend llvm; else have_llvm || :; fi
flags="-std=c99 -O2 -fno-inline -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
"$arenac" compile -q "$tmp/m.ag" --name m -o "$tmp/m.c"
"$arenac" compile -q "$tmp/m.ag" --name m --share-kernels -o "$tmp/s.c"
[ "$(grep -c 'm_conv_2d_[0-9]*(const' "$tmp/m.c")" = 4 ] || fail "the plain code has no four functions"
[ "$(grep -c 'm_conv_2d_[0-9]*(const' "$tmp/s.c")" = 3 ] || fail "the first two convolutions are not shared"
grep -q 'shape\[' "$tmp/s.c" || fail "no numbers are read"
grep -q -- '--share-kernels' "$tmp/s.h" || fail "the header does not name the option"
for c in m s; do
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -I"$tmp" -c "$tmp/$c.c" -o "$tmp/$c.o" || fail "$c.c has warnings"
done
size_of() { nm -S "$1" | python3 -c 'import sys; print(sum(int(l.split()[1], 16) for l in sys.stdin if len(l.split()) == 4 and l.split()[2] in "tT"))'; }
if have nm binutils python3 python3; then
    [ "$(size_of "$tmp/s.o")" -lt "$(size_of "$tmp/m.o")" ] || fail "the code is not smaller"
fi
"$arenac" compile -q "$tmp/m.ag" -t cortex-m4 --share-kernels --name m -o "$tmp/f.c"
echo "kernels are shared"
