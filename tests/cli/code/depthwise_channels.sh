#!/bin/sh
# int8 depthwise convolutions with dot products of four bytes or two rows: any number of channels gives the results of
# plain loops, is proven, and needs code for one vector; the same holds for scales that only integer requantisation
# handles exactly, whose code appears once for a row. usage: depthwise_channels.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
net() { # CHANNELS [SCALES FILTER]
    cat <<E2
graph net {
  input x: i8[1,6,15,$1] q(0.05, 3)
  const w: i8[1,${3:-5,3},$1] q(${2:-0.01, 0}) = random 1 (-127, 127)
  const b: i32[$1] = random 2 (-500000, 500000)
  y: i8[1,6,15,$1] q(0.5, -5) = depthwise_conv_2d(x, w, b) padding=same
  output y
}
E2
}
count() { # WORD TARGET
    "$arenac" compile -q net.ag -t "$2" --emit loops -o - | grep -c "$1"
}
alike() { # WHAT: the results of plain loops, proven, in code of at most $most products
    "$arenac" run -q net.ag -t generic --backend eval --random 1 --output-dir generic >/dev/null || fail "$1: generic"
    for t in x86-64-v3 x86-64-v4-vnni; do
        "$arenac" run -q net.ag -t $t --backend eval --random 1 --output-dir $t >/dev/null || fail "$1: $t"
        cmp generic/0.npy $t/0.npy || fail "$1, $t: other results"
        expect 0 ': proven' "$arenac" prove net.ag -t $t
    done
    n=$(count dot4 x86-64-v4-vnni)
    [ "$n" -gt 0 ] && [ "$n" -le "$most" ] || fail "$1: $n products, at most $most"
}
net 16 >net.ag
most=$(count dot4 x86-64-v4-vnni)
[ "$most" -gt 50 ] || fail "16 channels: $most products"
for channels in 4 5 11 12 17 20 24 31 35 44 47; do
    net $channels >net.ag
    alike "$channels channels"
done
most=100000
for channels in 8 11 16 20 44; do
    scales=$(awk -v n=$channels 'BEGIN { for (i = 0; i < n; i++) printf ", 0.0%05d 0", 1900 + i * 7919 % 30011 }')
    net $channels "axis 3: ${scales#, }" 7,7 >net.ag
    alike "$channels channels, each with a scale"
    for t in x86-64-v3 x86-64-v4-vnni; do
        n=$(count 'load i32x.* stage\[' $t)
        [ "$n" = 1 ] || fail "$channels channels, $t: rows are finished in $n places"
    done
done
"$arenac" prove net.ag -t x86-64-v3 -o net.cert >/dev/null || fail "44 channels: no certificate"
expect 0 '^VALID 1 of 1 steps' "$(dirname "$arenac")/arenac-certcheck" net.cert
[ "$bad" = 0 ] && echo "depthwise: any number of channels"
