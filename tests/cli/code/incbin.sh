#!/bin/sh
# Generated C whose weights the assembler includes compiles in every working directory and by every path; so do several
# models; code written to standard output is self-contained. usage: incbin.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
m=$models/digits_int8
mkdir -p "made here/sub" elsewhere
"$arenac" compile -q "$m.tflite" --weights asm --name net -o "made here/sub/net.c"
cat >main.c <<'X'
#include <stdio.h>
#include <string.h>
#include "net.h"
static _Alignas(NET_ARENA_ALIGN) uint8_t arena[NET_ARENA_BYTES];
int main(void)
{
    const net_mem mem = {.arena = arena};
    if (net_init(&mem) || fread(net_in0(&mem), 1, NET_IN0_BYTES, stdin) != NET_IN0_BYTES || net_run(&mem))
        return 1;
    fwrite(net_out0(&mem), 1, NET_OUT0_BYTES, stdout);
    return 0;
}
X
tail -c 64 "$m.in0.0.npy" >in
tail -c 10 "$m.out0.0.npy" >want
# builds COMPILER PATH: in the current folder; the program gives what the model gives
builds() {
    "$1" -O1 -Wall -Wextra -Werror -I"$(dirname "$2")" "$2" "$tmp/main.c" -o "$tmp/run" &&
        "$tmp/run" <"$tmp/in" | cmp -s - "$tmp/want" || fail "$1 $2 in $PWD"
    rm -f "$tmp/run"
}
for cc in ${CC:-cc} clang; do
    command -v "$cc" >/dev/null || continue
    builds "$cc" "made here/sub/net.c"
    builds "$cc" "$tmp/made here/sub/net.c"
    cd "made here/sub" || exit 1
    builds "$cc" net.c
    cd "$tmp/elsewhere" || exit 1
    builds "$cc" "../made here/sub/net.c"
    cd "$tmp" || exit 1
done
# moved away, with the path in the macro
mv "made here/sub/net.c.bin" elsewhere/weights
! ${CC:-cc} -c "made here/sub/net.c" -o n.o 2>err.txt || fail "weights that are not there"
${CC:-cc} '-DNET_BLOB_FILE="elsewhere/weights"' -c "made here/sub/net.c" -o n.o || fail "NET_BLOB_FILE"
# several models
"$arenac" compile -q "$m.tflite" "$models/branch_int8.tflite" --share exclusive --weights asm -o two
(cd elsewhere && ${CC:-cc} -c ../digits_int8.c -o d.o && ${CC:-cc} -c ../branch_int8.c -o b.o) || fail "two models"
# more than 1 MiB: of a file and of standard output
printf 'graph big {\n  input x: f32[1,600]\n  const w: f32[600,600] = random 1\n' >big.ag
printf '  y = fully_connected(x, w)\n  output y\n}\n' >>big.ag
expect 0 '' "$arenac" compile -q big.ag -o big.c
[ "$(wc -c <big.c.bin)" -gt 1000000 ] || fail "big.c.bin"
"$arenac" compile -q big.ag -o - >piped.c
! grep -q incbin piped.c || fail "weights in a file that nobody wrote"
"$arenac" compile -q big.ag --emit h -o big.h
${CC:-cc} -c piped.c -o piped.o || fail "standard output does not compile"
exit $bad
