#!/bin/sh
# A matrix that is both a lookup table and a factor (a language model's embedding) is stored once, in the product's
# order; lookups still return the rows of the table. usage: tied.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require gcc gcc
have_numpy || exit 77
ROWS=1003 # blocks of two widths, the last one not full
floats() { # COLUMNS
    cat <<X
graph net {
  input token: i32[n]
  const table: f32[$ROWS,$1] = random 1 (-1, 1)
  e = gather(table, token)
  y = fully_connected(e, table, _)
  output y, e
}
X
}
bytes() { # COLUMNS
    cat <<X
graph net {
  input token: i32[n]
  const table: i8[$ROWS,$1] q(0.02, 0) = random 1 (-127, 127)
  const bias: i32[$ROWS] q(0.0004, 0) = random 2 (-100, 100)
  e: i8[n,$1] q(0.02, 0) = gather(table, token)
  y: i8[n,$ROWS] q(0.5, 3) = fully_connected(e, table, bias)
  output y, e
}
X
}
blocks() { # BITS, BYTES OF A ROW
    cat <<X
graph net {
  input token: i32[n]
  const codes: u8[$ROWS,$2] = random 1 (0, 255)
  const scale: f32[$ROWS,2] = random 2 (0.5, 1)
  const zero: u8[$ROWS,2] = random 3 (0, $(((1 << $1) - 1)))
  c = gather(codes, token)
  s = gather(scale, token)
  z = gather(zero, token)
  f = cast(c) to=f32
$(if [ "$1" = 4 ]; then echo "  x = concatenation(f, f) axis=1"; else echo "  x = relu(f)"; fi)
  y = blockwise_dense(x, codes, scale, zero) bits=$1 size=32
  output y, c, s, z
}
X
}
weights() {
    "$arenac" plan -q --json "$@" | sed -n 's/.*"weight_bytes": *\([0-9]*\).*/\1/p' | head -1
}
tokens() {
    "$py" -c "
import numpy, sys
numpy.save('token.npy', numpy.array([int(v) for v in sys.argv[1:]], 'int32'))" "$@"
}
# once BYTES ROWS-LOOKED-UP OPTIONS: net.ag has its table once (what fills blocks is less than a thirtieth), and rows
# that are looked up are those of the program that only looks up, which has the table as the file does.
once() {
    bytes=$1 rows=$2
    shift 2
    got=$(weights net.ag "$@")
    [ "$got" -ge "$bytes" ] && [ "$got" -le $((bytes + bytes / 30)) ] ||
        fail "$*: $got bytes of constants, the table has $bytes"
    rm -rf here there
    expect 0 '' "$arenac" run net.ag "$@" --per-node -i token=token.npy --output-dir here
    expect 0 '' "$arenac" run net.ag "$@" --outputs "$rows" -i token=token.npy --output-dir there
    i=0
    while [ -f there/$i.npy ]; do
        cmp here/$((i + 1)).npy there/$i.npy || fail "$*: other rows"
        i=$((i + 1))
    done
    [ $i -gt 0 ] || fail "$*: no rows"
}
targets=generic
case $(uname -m) in x86_64) targets="generic x86-64-v2 native" ;; esac
tokens 0 1 15 16 500 967 968 975 976 983 984 991 992 1001 1002 31 32 33
for t in $targets; do
    widths=70
    [ "$t" = x86-64-v2 ] || widths="64 70"
    for columns in $widths; do
        floats $columns >net.ag
        once $((ROWS * columns * 4)) e -t $t --dim n=18
        once $((ROWS * columns * 2)) e -t $t --dim n=18 --float-storage bf16
        bytes $columns >net.ag
        once $((ROWS * (columns + 4))) e -t $t --dim n=18
    done
    blocks 4 32 >net.ag
    once $((ROWS * (32 + 8 + 2))) c,s,z -t $t --dim n=18
    blocks 8 64 >net.ag
    once $((ROWS * (64 + 8 + 2))) c,s,z -t $t --dim n=18 --threads 2
done
# a step, on two threads; a range of sizes
tokens 997
floats 64 >net.ag
once $((ROWS * 256)) e -t native --dim n=1 --threads 2
blocks 4 32 >net.ag
once $((ROWS * 42)) c,s,z -t native --dim n=1
# an index out of range ends the run as before
tokens 1003
expect 2 'index was out of range' "$arenac" run net.ag --dim n=1 -i token=token.npy
floats 64 >net.ag
whole=$((ROWS * 256))
"$arenac" compile -q net.ag -t x86-64-v3 --dim n=1..8 --weights blob -o net.c || die "a range"
size=$(cat ./*.bin | wc -c)
[ "$size" -le $((whole + whole / 30)) ] || fail "a range: $size bytes of weights, the table has $whole"
[ "$bad" = 0 ] && echo "tied: each table once"
