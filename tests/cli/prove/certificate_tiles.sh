#!/bin/sh
# Certificates of code with tiles and with many steps: proofs replay; they do not with a fault planted in a tile or in
# its requantisation. certificate.sh has the rest. usage: certificate_tiles.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
certcheck=$(dirname "$arenac")/arenac-certcheck
valid() { # CERTIFICATE OPTION...
    cert=$1
    shift
    "$arenac" prove "$models/dsnet_int8.tflite" "$@" -o "$cert" >/dev/null || fail "prove $*"
    expect 0 '^VALID [0-9]* of [0-9]* steps' "$certcheck" "$cert"
}
valid plain.cert --overlap on --share-kernels
# tiles of firmware targets, in all their forms, and sums that fit because of the weights of their channel
for t in cortex-m4 cortex-m55 rv32imac rv32imac-zve32x; do valid $t.cert -t $t; done

# planted in the tiles of TARGET, and in what makes bytes of their sums
tile() { # TARGET STATUS TEXT SED
    sed "$4" "$1.cert" >wrong.cert
    cmp -s wrong.cert "$1.cert" && fail "$4: nothing was changed"
    expect "$2" "$3" "$certcheck" wrong.cert
}
tile cortex-m4 2 'accumulators are' 's/tile pairs 2 x 4/tile pairs 2 x 8/'
tile cortex-m4 2 'accumulators are' 's/tile pairs 2 x 4/tile pairs 9 x 4/'
tile cortex-m4 2 'channels are in pairs' 's/tile pairs 2 x 4/tile pairs 2 x 3/'
tile cortex-m4 2 'another type' 's/tile pairs 2 x 4/tile bytes 2 x 4/'
tile rv32imac 2 'rows are in pairs' 's/tile words 4 x 4/tile words 1 x 4/'
tile rv32imac 3 'more than two bytes' 's/^const i32 65536$/const i32 65537/; s/\(const i32\) 65536$/\1 65537/'
tile cortex-m4 2 'not known' 's/tile pairs/tile pears/'
tile cortex-m55 1 'element .* of acc' 's/\(requant 8 out\[%[0-9]*\] acc\) 1 /\1 7 /'
tile cortex-m55 1 'the count of a shift may be 32 .. 32' '/^const i32/ s/ -[5-9]$/ -32/; /^const i32/ s/ -1[0-9]$/ -32/'
tile cortex-m55 3 'has not been written' 's/\(tile spread [0-9]* [a-z]*\[%[0-9]*\] [0-9]*\) 1 /\1 0 /'
