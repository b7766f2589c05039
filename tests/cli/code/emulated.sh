#!/bin/sh
# Instructions that the test machine may lack: AVX-512 with VNNI and BF16, and AMX. C for such targets with these
# instructions as functions (emulated/immintrin.h) gives the evaluator's bits, and so do its plain loops; both compilers
# accept the instructions themselves; products of AMX are proven, and native never uses it. usage: emulated.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
case $(uname -m) in x86_64) ;; *) echo "skipped: not x86-64"; exit 77 ;; esac
grep -q avx2 /proc/cpuinfo || { echo "skipped: no AVX2"; exit 77; }
cat >i8.ag <<'M'
graph i8 {
  input  x: i8[1,5,7,64] q(0.05, -3)
  const  w1: i8[48,1,1,64] q(0.01, 0) = random 1 (-127, 127)
  const  b1: i32[48] q(0.0005, 0) = random 2 (-4000, 4000)
  const  w2: i8[40,1,1,48] q(0.02, 0) = random 3 (-127, 127)
  const  w3: i8[36,140] q(0.01, 0) = random 4 (-127, 127)
  a: i8[1,5,7,48] q(0.3, 5) = conv_2d(x, w1, b1) padding=same stride_h=1 stride_w=1 act=relu "place"
  b: i8[1,5,7,40] q(0.5, -7) = conv_2d(a, w2, _) padding=same stride_h=1 stride_w=1 "copied"
  r = reshape(b) shape=[10,140]
  t = concatenation(r, r) axis=0
  y: i8[20,36] q(0.4, 1) = fully_connected(t, w3, _) "dense"
  output y
  output a
}
M
cat >bf.ag <<'M'
graph bf {
  input  x: f32[1,4,6,16]
  const  k: f32[16] = [1e-38, 1e-39, -1e-40, 1e-41, 1, -2, 3, 1e38, 3e38, 1e-37, 1e-36, 1e-30, 1e-20, 0, -0.0, 1e-44]
  const  w: f32[24,1,1,16] = random 1 (-0.4, 0.4)
  a = mul(x, k)
  b = mul(a, k) act=none
  c = conv_2d(x, w, _) padding=same stride_h=1 stride_w=1 act=relu
  d = conv_2d(a, w, _) padding=same stride_h=1 stride_w=1 act=relu
  output a
  output b
  output c
  output d
}
M
cat >cut.ag <<'M'
graph cut {
  input  x: i8[1,16,25,64] q(0.05, -3)
  const  w1: i8[96,1,1,64] q(0.01, 0) = random 1 (-127, 127)
  const  w2: i8[64,1,1,96] q(0.02, 0) = random 3 (-127, 127)
  a: i8[1,16,25,96] q(0.3, 5) = conv_2d(x, w1, _) padding=same stride_h=1 stride_w=1 act=relu "place"
  b: i8[1,16,25,64] q(0.5, -7) = conv_2d(a, w2, _) padding=same stride_h=1 stride_w=1 "copied"
  output b
}
M
# MODEL TARGET OPTION...: the C, its header and its own test
written() {
    name=$1 target=$2
    shift 2
    "$arenac" compile -q $name.ag -t "$target" --emit c,h,selftest -o $name.c "$@"
}
# TEXT OPTION...: the self-test's output for the program with its instructions as functions
says() {
    want=$1
    shift
    sed 's/target("[^"]*")/target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")/; s/, min_vector_width([0-9]*)//' $name.c >e.c
    gcc -std=gnu99 -O1 -w -Wno-psabi -ffp-contract=off -mavx2 -mfma "-I$src/tests/cli/code/emulated" -I. \
        "-D$(echo $name | tr a-z A-Z)_SELFTEST_MAIN" "$@" e.c $name.selftest.c -o e -lm ||
        die "$name for $target does not compile"
    ./e >said || true
    grep -q "$want" said || die "$name for $target: '$(cat said)' is not '$want'"
}
# Both compilers take the file as it is, and the instruction is in the object.
compiles() { # INSTRUCTION
    for cc in gcc clang; do
        command -v $cc >/dev/null || continue
        $cc -std=c99 -O1 -Wall -Wextra -Werror -c $name.c -o $name.o || die "$cc does not take $name for $target"
        ! command -v objdump >/dev/null || objdump -d $name.o | grep -q "$1" || die "$cc: no $1"
    done
}

"$arenac" compile -q i8.ag -t x86-64-v4-amx --emit loops -o - | grep -c 'tile matrix' >n || true
[ "$(cat n)" -ge 3 ] || die "not every product is of matrices: $(cat n)"
"$arenac" compile -q i8.ag -t x86-64-v4-bf16 --emit loops -o loops.txt && ! grep -q 'tile matrix' loops.txt ||
    die "matrices without AMX"
written i8 x86-64-v4-amx
grep -q '_tile_dpbssd' i8.c || die "no products of tiles"
compiles tdpbssd
says equal
says equal -DI8_NO_ASM
sed -i 's/_tile_dpbssd(1, 4, 7)/_tile_dpbssd(1, 4, 6)/' i8.c
says differs
written cut x86-64-v4-amx --threads 2
[ "$(grep -c 'part[[]0[]]' cut.c)" -ge 2 ] || die "products of tiles are not cut for threads"
says equal
"$arenac" run -q i8.ag -t x86-64-v4-amx --random 3 --backend eval --output-dir one
"$arenac" run -q i8.ag -t x86-64-v4-amx --random 3 --backend eval --threads 3 --output-dir three
"$arenac" run -q i8.ag -t generic --random 3 --backend eval --output-dir generic
for o in 0 1; do
    cmp one/$o.npy generic/$o.npy || die "AMX has other results"
    cmp one/$o.npy three/$o.npy || die "threads change results"
done
"$arenac" prove -q i8.ag -t x86-64-v4-amx -o code.cert || die "not proven"
certcheck=$(dirname "$arenac")/arenac-certcheck
expect 0 '^VALID 4 of 4 steps' "$certcheck" code.cert
sed 's/\(tile matrix 17 x 32 stage x.*\) 64 w/\1 65 w/' code.cert >past.cert
expect 1 'REFUSED.*of x\[2240\]' "$certcheck" past.cert

written bf x86-64-v4-bf16 --float-storage bf16 --float-storage-of activations,io
grep -q '_mm512_cvtneps_pbh' bf.c || die "no conversion by an instruction"
compiles vcvtneps2bf16
says equal
sed -i 's/if (__builtin_expect(_mm512_mask_test/if (1 || __builtin_expect(_mm512_mask_test/' bf.c
says differs

# rows: their features; native is never a row that needs the operating system
"$arenac" targets >list
grep -q '^avx10.1 .*bf16' list && grep -q '^x86-64-v4-amx .*amx' list || die "a row is missing"
grep -q '^sapphirerapids .*bf16' list && grep -q '^znver4 .*bf16' list || die "a processor lacks bf16"
"$arenac" compile -q i8.ag -t native -o native.c && ! grep -q '_tile_' native.c || die "native takes AMX"
grep -q amx_int8 /proc/cpuinfo || expect 2 'lacks .*amx-tile' "$arenac" run -q i8.ag -t x86-64-v4-amx --random 1
