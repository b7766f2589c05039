#!/bin/sh
# Generated C whose weights the assembler includes compiles in every working directory and by every path; so do several
# models; code written to standard output is self-contained. NAME_check_weights finds a changed byte in every form
# of the weights. usage: incbin.sh ARENAC SOURCE_DIR
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

# --check-weights: right as compiled, wrong after a change of one byte
cat >sums.c <<'X'
#include <stdio.h>
#include <string.h>
#include "net.h"
static union { uint64_t align[1]; uint8_t byte[1 << 20]; } all, *blob = &all;
int main(int argc, char **argv)
{
    uint8_t *at = blob->byte + (64 - (uintptr_t)blob % 64) % 64;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const net_mem mem = {.weights = at};
    if (f && !fread(at, 1, sizeof all - 64, f))
        return 99;
    return net_check_weights(&mem) == NET_OK ? 0 : net_check_weights(&mem) == NET_EWEIGHTS ? 1 : 2;
}
X
sums() { # STATUS ARGUMENT...
    want=$1 got=0
    shift
    "${CC:-cc}" -O1 -std=c99 -Wall -Wextra -Werror -I. sums.c net.c -o sums || fail "sums $*"
    ./sums "$@" || got=$?
    [ "$got" = "$want" ] || fail "check_weights: $got, wanted $want: $*"
}
change() { # FILE: one bit in the middle
    printf '\377' | dd of="$1" bs=1 seek=5000 conv=notrunc 2>/dev/null
}
for t in generic cortex-m4; do
    "$arenac" compile -q "$m.tflite" -t $t --check-weights --weights rodata --name net -o net.c || fail "sums of $t"
    sums 0
    awk 'last ~ /_RODATA.* = {$/ && !n++ { sub(/[0-9],/, $0 ~ /7,/ ? "5," : "7,") } { print; last = $0 }' \
        net.c >changed.c
    cmp -s net.c changed.c && fail "nothing was changed"
    mv changed.c net.c
    sums 1
done
"$arenac" compile -q "$m.tflite" --check-weights --weights asm --name net -o net.c || fail "sums of asm"
sums 0
change net.c.bin
sums 1
"$arenac" compile -q "$m.tflite" --check-weights --weights blob --name net -o net.c || fail "sums of a blob"
sums 0 net.bin
change net.bin
sums 1 net.bin
"$arenac" compile -q "$src/tests/golden/c/poison.ag" --check-weights --name net -o net.c || fail "no weights"
sums 0
expect 8 'check-weights is for C; --emit cu does not support it' \
    "$arenac" compile "$m.tflite" -t cuda-sm80 --check-weights --emit cu,h --name net -o net
exit $bad
