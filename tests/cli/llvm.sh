#!/bin/sh
# The LLVM backend on the models here: in this process the bits of the evaluator on every level this machine runs, objects that link
# with their header and need no symbol but memcpy, memset and memmove, the same bytes in two runs, blobs, sections, and a start of
# the tool that does not pay for LLVM. usage: llvm.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
have_llvm || exit 77
require python3 python3 gcc gcc nm binutils
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
n=0
for m in "$src"/models/*.tflite "$src"/models/*.ag; do
    stem=${m%.*}
    name=$(basename "$stem")
    for t in native x86-64-v2; do
        "$arenac" run -q "$m" -t $t --backend eval --input 0="$stem.in0.0.npy" --output-dir "$tmp/want" || fail "$name $t eval"
        "$arenac" run -q "$m" -t $t --backend llvm --input 0="$stem.in0.0.npy" --output-dir "$tmp/got" || {
            [ $? = 8 ] && continue # this machine cannot
            fail "$name $t"
        }
        cmp "$tmp/want/0.npy" "$tmp/got/0.npy" || fail "$name $t: not the bits of the evaluator"
        n=$((n + 1))
    done
    (cd "$tmp" && "$arenac" compile -q "$m" -t x86-64-v2 --name "$name" --emit o,h -o "$name" && cp "$name.o" first.o &&
        "$arenac" compile -q "$m" -t x86-64-v2 --name "$name" --emit o,h -o "$name" && cmp first.o "$name.o") || fail "$name: two runs differ"
    extra=$(nm -u "$tmp/$name.o" | awk '{ print $2 }' | grep -vxE 'memcpy|memset|memmove' || true)
    [ -z "$extra" ] || fail "$name needs $extra"
done
[ "$n" -ge 14 ] || fail "only $n runs"
case $(uname -m) in x86_64)
    python3 "$src/tests/host_main.py" digits_int8 digits_int8.h "$src/models/digits_int8.in0.0.npy" "$src/models/digits_int8.out0.0.npy" >"$tmp/main.c"
    gcc -I"$tmp" "$tmp/main.c" "$tmp/digits_int8.o" -o "$tmp/main" && "$tmp/main" || fail "an object with its header"
    gcc -shared -o "$tmp/all.so" "$tmp/main.c" "$tmp"/[bdg]*.o -I"$tmp" || fail "objects of several models in one library"
esac
m=$src/models/branch_int8.tflite
"$arenac" compile -q "$m" --weights blob --emit o,h -o "$tmp/blob.o"
[ -e "$tmp/blob.bin" ] && [ -e "$tmp/blob.h" ] || fail "a blob beside the object"
"$arenac" compile -q "$m" -t cortex-m4 --section code=.itcm --section rodata=.qspi --emit s -o "$tmp/s.s"
grep -q '\.section[[:space:]]*\.itcm' "$tmp/s.s" && grep -q '\.section[[:space:]]*\.qspi' "$tmp/s.s" || fail "sections"
"$arenac" compile -q "$m" --emit ll -o - | grep -q 'define internal' || fail "the text form"
"$arenac" compile -q "$m" --emit bc -o - | head -c 2 | grep -q BC || fail "bitcode"
for t in haswell thumbv7em cortex-m0plus cortex-m55-mve rv32imac aarch64-i8mm aarch64-sve256 rv64gcv wasm32; do
    "$arenac" compile -q "$src/models/dsnet_f32.tflite" -t $t --emit o -o "$tmp/t.o" || fail "no object for $t"
done
# 64 MB of weights: bytes that are copied, not text and not values, within a few times their size
cat >"$tmp/big.ag" <<'END'
graph big {
  input x: i8[1,8192] q(0.5, 3)
  const w: i8[8192,8192] q(0.01, 0) = random 1 (-127, 127)
  y: i8[1,8192] q(4, -5) = fully_connected(x, w, _)
  output y
}
END
(ulimit -v 1000000 && cd "$tmp" && "$arenac" compile -q big.ag --max-memory 400M -t x86-64-v2 --name big --emit o,h -o big) || fail "64 MB of weights in an object"
[ "$(nm -S "$tmp/big.o" | awk '/_w$/ { print $2 }' | tail -1)" = 0000000004000000 ] || fail "the weights are not in the object"
echo "$n runs equal the evaluator"
