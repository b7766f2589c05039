#!/bin/sh
# int8 depthwise convolutions with dot products of four bytes: any number of channels gives the results of plain loops,
# is proven, and takes code for at most two vectors. usage: depthwise_channels.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
net() { # CHANNELS
    cat <<E2
graph net {
  input x: i8[1,6,15,$1] q(0.05, 3)
  const w: i8[1,5,3,$1] q(0.01, 0) = random 1 (-127, 127)
  const b: i32[$1] = random 2 (-500, 500)
  y: i8[1,6,15,$1] q(0.5, -5) = depthwise_conv_2d(x, w, b) padding=same
  output y
}
E2
}
products() { # of the code
    "$arenac" compile -q net.ag -t x86-64-v4-vnni --emit loops -o - | grep -c dot4
}
net 16 >net.ag
most=$((2 * $(products)))
[ $most -gt 100 ] || fail "16 channels: $most/2 products"
for channels in 4 5 11 12 17 20 24 31 35 44 47; do
    net $channels >net.ag
    for t in generic x86-64-v4-vnni; do
        "$arenac" run -q net.ag -t $t --backend eval --random 1 --output-dir $t >/dev/null || fail "$channels: $t"
    done
    cmp generic/0.npy x86-64-v4-vnni/0.npy || fail "$channels channels: other results"
    expect 0 ': proven' "$arenac" prove net.ag -t x86-64-v4-vnni
    n=$(products)
    [ "$n" -gt 0 ] && [ "$n" -le $most ] || fail "$channels channels: $n products, at most $most"
done
[ "$bad" = 0 ] && echo "depthwise: any number of channels"
