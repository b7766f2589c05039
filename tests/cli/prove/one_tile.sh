#!/bin/sh
# int8 convolutions of 1x1 whose pixels are not a multiple of a tile: if few are computed twice there is one loop, whose
# last tile begins earlier and stores only its new pixels, also if the next operator is fused and its operand may be
# overwritten; results are those of plain loops, and the code is proven. usage: one_tile.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
net() { # HEIGHT WIDTH CHANNELS ADD
    scales=$(awk -v n="$3" 'BEGIN { for (i = 0; i < n; i++) printf ", 0.%05d 0", 900 + i * 7919 % 3001 }')
    cat <<E2
graph net {
  input x: i8[1,$1,$2,24] q(0.05, 3)
  const w: i8[$3,1,1,24] q(axis 0: ${scales#, }) = random 1 (-127, 127)
  const b: i32[$3] = random 2 (-500, 500)
  y: i8[1,$1,$2,$3] q(0.05, -5) = conv_2d(x, w, b) padding=same
E2
    if [ "$4" = add ]; then
        cat <<E2
  input z: i8[1,$1,$2,$3] q(0.04, 7)
  u: i8[1,$1,$2,$3] q(0.06, 1) = add(y, z)
  output u
}
E2
    else
        printf '  output y\n}\n'
    fi
}
alike() { # WHAT
    "$arenac" run -q net.ag -t generic --backend eval --random 1 --output-dir generic >/dev/null || fail "$1: generic"
    for t in x86-64-v3 x86-64-v4-vnni; do
        "$arenac" run -q net.ag -t $t --backend eval --random 1 --output-dir $t >/dev/null || fail "$1: $t"
        cmp generic/0.npy $t/0.npy || fail "$1, $t: other results"
        expect 0 ': proven' "$arenac" prove net.ag -t $t
    done
}
tiles() { # loops over tiles of rows
    "$arenac" compile -q net.ag -t x86-64-v3 --emit loops -o - | grep -c 'for .* as p '
}
for add in no add; do
    for size in "14 14 16" "13 23 40" "17 19 8" "7 7 16"; do
        net $size $add >net.ag
        alike "$size, $add"
        case $size in
        14*)
            [ "$(tiles)" = 1 ] || fail "$size, $add: $(tiles) loops over tiles"
            "$arenac" prove net.ag -t x86-64-v3 -o net.cert >/dev/null || fail "$size, $add: no certificate"
            expect 0 '^VALID 1 of 1 steps' "$(dirname "$arenac")/arenac-certcheck" net.cert
            ;;
        7*) [ "$(tiles)" = 2 ] || fail "$size, $add: $(tiles) loops over tiles: too much is computed twice" ;;
        esac
    done
done
[ "$bad" = 0 ] && echo "1x1 convolutions: one loop over tiles"
