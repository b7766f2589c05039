#!/bin/sh
# --float-storage: floats have 16 bits in memory and 32 in arithmetic. Compared with NumPy (float_storage.py); the same
# bits from the evaluator, C, LLVM, the emulation of a GPU, threads, strips of rows and other targets; half of the arena
# and of the weights; tensors that stay f32; proofs; messages. usage: float_storage.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
if have_numpy; then
    "$py" "$src/tests/cli/code/float_storage.py" "$arenac" "$tmp" eval
    "$py" "$src/tests/cli/code/float_storage.py" "$arenac" "$tmp" eval -t x86-64-v4 --exact >/dev/null
fi
cat >m.ag <<'M'
graph m {
  input  x: f32[1,20,21,3]
  const  w1: f32[24,3,3,3] = random 1 (-0.4, 0.4)
  const  b1: f32[24] = random 2 (-1, 1)
  const  d1: f32[1,3,3,24] = random 3 (-0.4, 0.4)
  const  w2: f32[40,1,1,24] = random 4 (-0.4, 0.4)
  const  w3: f32[70,40] = random 5 (-0.4, 0.4)
  const  k: f32[70,33] = random 6 (-0.4, 0.4)
  a = conv_2d(x, w1, b1) padding=same stride_h=1 stride_w=1 act=relu "first"
  b = depthwise_conv_2d(a, d1, b1) padding=same stride_h=2 stride_w=2 "second"
  c = conv_2d(b, w2, _) padding=same stride_h=1 stride_w=1 act=relu6 "third"
  p = max_pool_2d(c) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
  r = reshape(p) shape=[25,40]
  f = fully_connected(r, w3, _)
  s = softmax(f)
  t = transpose(s) perm=[1,0]
  q = batch_matmul(t, s)
  z = batch_matmul(q, k)
  y = tanh(z)
  output y
}
M
quick="-O1" # of the host compiler: the bits do not depend on it
CC=${CC:-cc}
printf '#!/bin/sh\nexec %s "$@" %s\n' "$CC" "$quick" >cc && chmod +x cc
CC=$tmp/cc
export CC
for d in bf16 f16; do
    run() { # DIR OPTION...
        to=$1
        shift
        "$arenac" run -q m.ag --random 7 --float-storage $d --output-dir "$to" "$@"
    }
    equal() { # DIR WHAT
        cmp "$1/0.npy" want/0.npy || die "$d: $2"
    }
    for t in generic native; do
        run want -t $t --backend eval
        run got -t $t && equal got "C for $t differs from the evaluator"
        run got -t $t --backend eval --threads 3 && equal got "threads change the result"
        ! have_llvm || { run got -t $t --backend llvm && equal got "LLVM for $t differs from the evaluator"; }
        "$arenac" run -q m.ag --random 7 -t $t --output-dir plain
        ! cmp -s plain/0.npy want/0.npy || die "$d: nothing is rounded"
    done
    run want --backend eval --exact
    for t in x86-64-v3 x86-64-v4 aarch64 rv64gcv cortex-m4 cortex-m55-mve; do
        run got --backend eval --exact -t $t && equal got "$t differs with --exact"
    done
    run got --backend eval --exact --stripe auto && equal got "strips of rows change the result"
    run want --backend eval -t cuda-sm80
    run got --backend cuda-emu -t cuda-sm80 && equal got "the emulation of a GPU differs from the evaluator"
    "$arenac" prove -q m.ag --float-storage $d -t x86-64-v3 || die "$d: not proven"
    "$arenac" prove -q m.ag --float-storage $d -t cortex-m4 || die "$d: not proven on a Cortex-M4"
done

# half of the bytes
half=$(arena_bytes m.ag --float-storage bf16)
[ "$(arena_bytes m.ag)" -ge $((2 * half - 64)) ] || die "the arena is not half as large: $half"
[ "$(arena_bytes m.ag)" = "$(arena_bytes m.ag --float-storage bf16 --float-storage-of weights)" ] ||
    die "activations are not floats"
expect 0 'floats in memory are f16 where they may be: 5 of 5 weights (13,868 B), 8 of 10 activations' \
    "$arenac" plan m.ag --float-storage f16
expect 0 'bf16 where they may be: 0 of 5 weights (0 B), 8 of 10 activations' \
    "$arenac" plan m.ag --float-storage bf16 --float-storage-of activations
verified m.ag --float-storage f16

# inputs and outputs only on request; constants out of range
"$arenac" compile -q m.ag --float-storage f16 -o m.c
grep -q 'float \*m_in0' m.h || die "an input that is not f32: $(grep m_in0 m.h)"
"$arenac" compile -q m.ag --float-storage f16 --float-storage-of weights,activations,io -o m.c
grep -q 'uint16_t \*m_in0' m.h && grep -q 'uint16_t \*m_out0' m.h || die "f32 with io: $(grep m_in0 m.h)"
cat >far.ag <<'M'
graph far {
  input  x: f32[1,2]
  const  w: f32[2,2] = [1, 2, 70000, -1e30]
  y = fully_connected(x, w, _)
  output y
}
M
expect 0 "W0001.*'w': 2 of 4 values exceed the maximum of f16 and become it, 65504" \
    "$arenac" compile far.ag --float-storage f16 -o far.c
expect 0 '' "$arenac" compile far.ag --float-storage bf16 -o far.c
! grep -q W0001 err.txt || die "numbers that bf16 has: $(cat err.txt)"

# state: half of it, unless it is left out
cat >s.ag <<'M'
graph s {
  input x: f32[2,16]
  input h: f32[2,16]
  n = add(x, h)
  y = tanh(n)
  output y
  output n
}
M
state_bytes() {
    "$arenac" compile -q s.ag --state n=h -o s.c "$@" && sed -n 's/.*S_STATE_BYTES *\([0-9]*\).*/\1/p' s.h | head -1
}
[ "$(state_bytes)" = 128 ] || die "state of 32 floats: $(state_bytes)"
[ "$(state_bytes --float-storage bf16)" = 64 ] || die "state of 32 bf16: $(state_bytes --float-storage bf16)"
[ "$(state_bytes --float-storage bf16 --float-storage-of weights,activations)" = 128 ] || die "state that is left out"

expect 2 "did you mean 'weights'" "$arenac" plan m.ag --float-storage bf16 --float-storage-of weight
expect 8 'E0502.*does not go with --reference' "$arenac" plan m.ag --float-storage bf16 --reference tflite
expect 8 'E0502.*does not go with --train' "$arenac" plan m.ag --float-storage bf16 --train sgd --loss mse --batch 1
expect 0 'W0002.*floats stay f32' "$arenac" plan m.ag --float-storage-of weights
