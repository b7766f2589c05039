#!/bin/sh
# The LLVM backend on the models here: in this process the bits of the evaluator on every level this machine runs,
# objects that link with their header and need no symbol but memcpy, memset and memmove, the same bytes in two runs,
# blobs, sections, and a start of the tool that does not pay for LLVM. usage: llvm.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
have_llvm || exit 77
require python3 python3 gcc gcc nm binutils
n=0
for m in "$models"/*.tflite "$models"/*.ag; do
    stem=${m%.*}
    name=$(basename "$stem")
    for t in native x86-64-v2; do
        "$arenac" run -q "$m" -t $t --backend eval --input 0="$stem.in0.0.npy" --output-dir want || die "$name $t eval"
        "$arenac" run -q "$m" -t $t --backend llvm --input 0="$stem.in0.0.npy" --output-dir got || {
            [ $? = 8 ] && continue # this machine cannot
            die "$name $t"
        }
        cmp want/0.npy got/0.npy || die "$name $t: not the bits of the evaluator"
        n=$((n + 1))
    done
    for o in first second; do
        "$arenac" compile -q "$m" -t x86-64-v2 --name "$name" --emit o,h -o "$name"
        mv "$name.o" $o
    done
    cmp first second || die "$name: two runs differ"
    mv second "$name.o"
    extra=$(nm -u "$name.o" | awk '{ print $2 }' | grep -vxE 'memcpy|memset|memmove' || true)
    [ -z "$extra" ] || die "$name needs $extra"
done
[ "$n" -ge 14 ] || die "only $n runs"
if [ "$(uname -m)" = x86_64 ]; then
    m=digits_int8
    python3 "$src/tests/host_main.py" $m $m.h "$models/$m.in0.0.npy" "$models/$m.out0.0.npy" >main.c
    gcc -I. main.c $m.o -o main && ./main || die "an object with its header"
    gcc -shared -o all.so main.c ./[bdg]*.o -I. || die "objects of several models in one library"
fi
m=$models/branch_int8.tflite
printf '#include <stddef.h>\n#include "s.h"\nint main(void) { return s_init(NULL) != S_EALIGN; }\n' >init.c
for weights in rodata blob; do
    "$arenac" compile -q "$m" --name s --weights $weights --emit o,h -o s.o
    gcc init.c s.o -o init && ./init || die "init takes NULL with --weights $weights"
done
"$arenac" compile -q "$m" --weights blob --emit o,h -o blob.o
[ -e blob.bin ] && [ -e blob.h ] || die "a blob beside the object"
"$arenac" compile -q "$m" -t cortex-m4 --section code=.itcm --section rodata=.qspi --emit s -o s.s
grep -q '\.section[[:space:]]*\.itcm' s.s && grep -q '\.section[[:space:]]*\.qspi' s.s || die "sections"
"$arenac" compile -q "$m" --emit ll -o - | grep -q 'define internal' || die "the text form"
"$arenac" compile -q "$m" --emit bc -o - | head -c 2 | grep -q BC || die "bitcode"
for t in haswell thumbv7em cortex-m0plus cortex-m55-mve rv32imac rv32imac-zve32x aarch64-i8mm aarch64-sve256 \
    rv64gcv wasm32; do
    "$arenac" compile -q "$models/dsnet_f32.tflite" -t $t --emit o -o t.o || die "no object for $t"
done
# an LSTM of integers, with its states of 8 and 16 bits
cat >lstm.ag <<'END'
graph lstm {
  input x: i8[1,5,6] q(0.0039, -128)
  const wi: i8[4,6] q(0.009, 0) = random 1 (-127, 127)
  const wf: i8[4,6] q(0.0074, 0) = random 2 (-127, 127)
  const wg: i8[4,6] q(0.0093, 0) = random 3 (-127, 127)
  const wo: i8[4,6] q(0.0117, 0) = random 4 (-127, 127)
  const ri: i8[4,4] q(0.0093, 0) = random 5 (-127, 127)
  const rf: i8[4,4] q(0.0057, 0) = random 6 (-127, 127)
  const rg: i8[4,4] q(0.005, 0) = random 7 (-127, 127)
  const ro: i8[4,4] q(0.0082, 0) = random 8 (-127, 127)
  const bi: i32[4] q(0.0000351, 0) = random 9 (-3000, 3000)
  const bf: i32[4] q(0.00002886, 0) = random 10 (-3000, 3000)
  const bg: i32[4] q(0.00003627, 0) = random 11 (-3000, 3000)
  const bo: i32[4] q(0.00004563, 0) = random 12 (-3000, 3000)
  state h: i8[1,4] q(0.0078, 0)
  state c: i16[1,4] q(0.00024414062, 0)
  y: i8[1,5,4] q(0.0078, 0) = unidirectional_sequence_lstm(x, wi, wf, wg, wo, ri, rf, rg, ro, _, _, _,
                                                           bi, bf, bg, bo, _, _, h, c)
  output y
}
END
for b in eval c llvm; do
    "$arenac" run -q lstm.ag --random 3 --backend $b --output-dir lstm.$b || die "an LSTM of integers, $b"
done
cmp lstm.eval/0.npy lstm.llvm/0.npy && cmp lstm.c/0.npy lstm.llvm/0.npy || die "an LSTM of integers: other bits"
for t in native cortex-m4 rv32imac; do
    "$arenac" compile -q lstm.ag -t $t --name lstm --emit o,h -o lstm.o || die "no object of an LSTM of integers, $t"
done
# 64 MB of weights: bytes that are copied, not text and not values, within a few times their size
cat >big.ag <<'END'
graph big {
  input x: i8[1,8192] q(0.5, 3)
  const w: i8[8192,8192] q(0.01, 0) = random 1 (-127, 127)
  y: i8[1,8192] q(4, -5) = fully_connected(x, w, _)
  output y
}
END
(ulimit -v 1000000 && "$arenac" compile -q big.ag --max-memory 400M -t x86-64-v2 --name big --emit o,h -o big) ||
    die "64 MB of weights in an object"
[ "$(nm -S big.o | awk '/big_constants$/ { print $2, $3 }')" = "0000000004000040 R" ] ||
    die "the weights are not in the object: $(nm -S big.o)"
python3 -c 'import sys
head = "{'"'descr': '|i1', 'fortran_order': False, 'shape': (1, 8192), }"'"
open("x.npy", "wb").write(b"\x93NUMPY\1\0" + (118).to_bytes(2, "little") + head.ljust(117).encode() + b"\n" +
                          bytes((i * 37 + i // 5) % 256 for i in range(8192)))'
"$arenac" run -q big.ag --backend eval --input 0=x.npy --output-dir big.want || die "big.ag, eval"
python3 "$src/tests/host_main.py" big big.h x.npy big.want/0.npy >main.c
for how in "" "-static" "-fPIE -pie" "-Wl,--gc-sections"; do
    # shellcheck disable=SC2086
    gcc -I. $how main.c big.o -o main && ./main || die "constants appended to the object, linked with '$how'"
done
gcc -shared -o big.so big.o || die "constants appended to the object, as a shared library"
strip --strip-debug -o stripped.o big.o && gcc -I. main.c stripped.o -o main && ./main || die "a stripped object"
for t in aarch64 rv64gcv cortex-m7 rv32imac; do # of 64 and of 32 bits
    "$arenac" compile -q big.ag -t $t --name big --emit o -o big.o || die "64 MB of weights for $t"
    nm -S big.o | grep -qi '0400[0-9a-f]*40 r big_constants' || die "$t: $(nm -S big.o)"
done
echo "$n runs equal the evaluator"
