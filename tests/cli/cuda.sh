#!/bin/sh
# The CUDA backend without a GPU: kernels of the models here in the emulation, with and without a look at every access; the .cu
# file's host part is warning free; the same bytes in two runs; PTX and CUBIN where NVRTC is found; what is said where it is not.
# usage: cuda.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
require "${CC:-cc}" gcc
have_sanitizers "${CC:-cc}" || exit 77
n=0
for m in "$src"/models/*.tflite "$src"/models/*.ag; do
    stem=${m%.*}
    name=$(basename "$stem")
    "$arenac" run -q "$m" -t cuda-sm80 --backend eval --input 0="$stem.in0.0.npy" --output-dir "$tmp/want" || fail "$name eval"
    for backend in cuda-emu cuda-race; do
        "$arenac" run -q "$m" --backend $backend --input 0="$stem.in0.0.npy" --output-dir "$tmp/got" || fail "$name $backend"
        cmp "$tmp/want/0.npy" "$tmp/got/0.npy" || fail "$name $backend: not the bits of the evaluator"
        n=$((n + 1))
    done
    (cd "$tmp" && "$arenac" compile -q "$m" -t cuda-sm90 --name "$name" --emit cu,h -o "$name" && cp "$name.cu" first.cu &&
        "$arenac" compile -q "$m" -t cuda-sm90 --name "$name" --emit cu,h -o "$name" && cmp first.cu "$name.cu") || fail "$name: two runs differ"
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$src/runtime" -x c -c "$tmp/$name.cu" -o "$tmp/$name.o" || fail "$name: the host's part"
done
m=$src/models/branch_int8.tflite
"$arenac" run -q "$m" --backend cuda-emu --per-node --random 3 >"$tmp/nodes" || fail "--per-node"
"$arenac" compile -q "$m" -t cuda-sm80 --weights blob --emit cu,h -o "$tmp/blob.cu" && [ -e "$tmp/blob.bin" ] || fail "a blob beside the kernels"

# refused STATUS TEXT ARGUMENTS...: exit status and words
refused() {
    want=$1 text=$2
    shift 2
    rc=0
    "$arenac" "$@" >/dev/null 2>"$tmp/err" || rc=$?
    [ $rc = "$want" ] && grep -q -- "$text" "$tmp/err" || { cat "$tmp/err"; fail "$* (exit $rc)"; }
}
refused 8 'are for GPUs\|is for GPUs' compile "$m" --emit cu -o "$tmp/x.cu"
refused 8 'C is not printed' compile "$m" -t cuda-sm80 --emit c -o "$tmp/x.c"
refused 8 'for GPUs' run "$m" -t generic --backend cuda-emu --random 1
refused 2 'cannot run code' run "$m" -t cuda-sm80 --random 1
ARENAC_NVRTC=/nowhere/libnvrtc.so
export ARENAC_NVRTC
refused 8 'pip install nvidia-cuda-nvrtc' compile "$m" -t cuda-sm80 --emit ptx -o "$tmp/x.ptx"
# An old NVRTC in a folder of its own: its second library is found beside it, and a GPU that it does not know is said.
mkdir "$tmp/toolkit"
"${CC:-cc}" -shared -fPIC -DBUILTINS -Wl,-soname,libnvrtc-builtins.so.11.8 -o "$tmp/toolkit/libnvrtc-builtins.so.11.8" "$src/tests/cuda/fake_nvrtc.c" &&
    "${CC:-cc}" -shared -fPIC -o "$tmp/toolkit/libnvrtc.so.11.2" "$src/tests/cuda/fake_nvrtc.c" -ldl || fail "a library in NVRTC's place"
ARENAC_NVRTC=$tmp/toolkit/libnvrtc.so.11.2
"$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o "$tmp/old.ptx" && grep -q 'PTX of no device' "$tmp/old.ptx" || fail "NVRTC's second library is not found"
refused 8 'NVRTC 11.8 does not know sm_100' compile "$m" -t cuda-sm100 --emit cubin -o "$tmp/old.cubin"
unset ARENAC_NVRTC
ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || refused 8 'cuda-emu runs the same kernels' run "$m" --backend cuda --random 1
"$arenac" compile "$m" -t cuda-sm80 --stripe auto --threads 2 --emit cu -o "$tmp/w.cu" >/dev/null 2>"$tmp/err" || fail "warnings"
grep -q 'no order' "$tmp/err" && grep -q 'threads of its own' "$tmp/err" || fail "orders are dropped without a word"

# The host's side, with a driver that checks the rules: launches, a graph, another stream, a model with state.
for name in branch_int8 digits_f32 dsnet_f32; do
    bytes=$(sed -n 's/.*_OUT0_BYTES \([0-9]*\)u.*/\1/p' "$tmp/$name.h")
    "${CC:-cc}" -std=gnu11 -O1 -w -shared -fPIC -ffp-contract=off -DARN_CUDA_EMU -DFAKE_MODEL=${name}_cuda -I"$src/runtime" -I"$tmp" -o "$tmp/libcuda.so.1" \
        "$src/tests/cuda/fake_driver.c" "$src/runtime/arn_cuda_emu.c" "$src/runtime/arn_cuda_mma.c" -x c "$tmp/$name.cu" -lm || fail "$name: the driver"
    "${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -g -fsanitize=address,undefined -DMODEL=$name -DHEADER="\"$name.h\"" -DOUT_BYTES=$bytes -I"$src/runtime" -I"$tmp" \
        -o "$tmp/main_$name" "$src/tests/cuda/run_cu.c" "$src/runtime/arn_cuda.c" -x c "$tmp/$name.cu" -ldl || fail "$name: a program with its API"
    "$arenac" run -q "$src/models/$name.tflite" -t cuda-sm80 --backend eval --input 0="$src/models/$name.in0.0.npy" --output-dir "$tmp/want_$name"
    ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH="$tmp" "$tmp/main_$name" "the image" "$src/models/$name.in0.0.npy" "$tmp/want_$name/0.npy" 2>"$tmp/err" || { cat "$tmp/err"; fail "$name through the driver"; }
    grep -q 'all given back' "$tmp/err" || { cat "$tmp/err"; fail "$name: not all was given back"; }
    if LD_LIBRARY_PATH="$tmp" "$tmp/main_$name" "another" "$src/models/$name.in0.0.npy" "$tmp/want_$name/0.npy" 2>"$tmp/err"; then fail "a bad image"; fi
    grep -q 'cannot be loaded' "$tmp/err" || { cat "$tmp/err"; fail "what is said of a bad image"; }
done

# The program that bench/cuda.py times models with, and what that says without a GPU.
"$arenac" compile -q "$src/models/digits_f32.tflite" -t cuda-sm80 --name net --emit cu,h -o "$tmp/net" && printf 'the image' >"$tmp/image"
"${CC:-cc}" -std=gnu11 -O1 -w -shared -fPIC -ffp-contract=off -DARN_CUDA_EMU -DFAKE_MODEL=net_cuda -I"$src/runtime" -I"$tmp" -o "$tmp/libcuda.so.1" \
    "$src/tests/cuda/fake_driver.c" "$src/runtime/arn_cuda_emu.c" "$src/runtime/arn_cuda_mma.c" -x c "$tmp/net.cu" -lm &&
    "${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -Werror -I"$src/runtime" -I"$tmp" -o "$tmp/time_net" "$src/bench/time_cuda.c" "$src/runtime/arn_cuda.c" -x c "$tmp/net.cu" -ldl || fail "the program that times"
tail -c "$(sed -n 's/.*NET_IN0_BYTES \([0-9]*\)u.*/\1/p' "$tmp/net.h")" "$src/models/digits_f32.in0.0.npy" >"$tmp/x.bin"
LD_LIBRARY_PATH="$tmp" "$tmp/time_net" "$tmp/image" 0.01 "$tmp/y.bin" "$tmp/x.bin" >"$tmp/time" 2>"$tmp/err" && grep -q 'graph_ms=[0-9]' "$tmp/time" || { cat "$tmp/err"; fail "timing"; }
tail -c "$(wc -c <"$tmp/y.bin")" "$tmp/want_digits_f32/0.npy" | cmp - "$tmp/y.bin" || fail "what is timed is not what runs"
# Views that begin anywhere: no vector is loaded from an address that is no multiple of its size.
cat >"$tmp/views.ag" <<'EOF'
graph views {
  input x: f32[1,2091]
  const one: i32[2] = [1, 1]
  const b: i32[2] = [0, 5]
  const e: i32[2] = [1, 2053]
  v = strided_slice(x, b, e, one)
  const s: i32[2] = [32, 64]
  m = reshape(v, s)
  const w: f32[40,64] = random 3
  y = fully_connected(m, w)
  const e1: i32[2] = [1, 133]
  v1 = strided_slice(x, b, e1, one)
  const s1: i32[2] = [2, 64]
  m1 = reshape(v1, s1)
  y1 = fully_connected(m1, w)
  const s2: i32[3] = [2, 16, 64]
  m2 = reshape(v, s2)
  y2 = batch_matmul(m2, m2) adj_y=true
  y3 = batch_matmul(m2, m2) adj_x=true
  const s4: i32[4] = [1, 4, 8, 64]
  m4 = reshape(v, s4)
  const w4: f32[16,3,3,32] = random 5
  y4 = conv_2d(m4, w4) padding=same
  r = relu(x)
  output y, y1, y2, y3, y4, r
}
EOF
for options in "" "--tensor-cores f16" "--tensor-cores tf32"; do
    # shellcheck disable=SC2086
    "$arenac" compile -q "$tmp/views.ag" -t cuda-sm80 $options --name net --emit cu,h -o "$tmp/net" || fail "views"
    grep -q '0x[0-9a-f]*4}, /\* x \*/' "$tmp/net.cu" || fail "no view begins between two vectors"
    "${CC:-cc}" -std=gnu11 -O1 -w -shared -fPIC -fsanitize=alignment -fsanitize-undefined-trap-on-error -DARN_CUDA_EMU -DFAKE_MODEL=net_cuda -I"$src/runtime" -I"$tmp" \
        -o "$tmp/libcuda.so.1" "$src/tests/cuda/fake_driver.c" "$src/runtime/arn_cuda_emu.c" "$src/runtime/arn_cuda_mma.c" -x c "$tmp/net.cu" -lm &&
        "${CC:-cc}" -std=gnu11 -O1 -w -I"$src/runtime" -I"$tmp" -o "$tmp/time_net" "$src/bench/time_cuda.c" "$src/runtime/arn_cuda.c" -x c "$tmp/net.cu" -ldl || fail "views: the program"
    LD_LIBRARY_PATH="$tmp" "$tmp/time_net" "$tmp/image" 0 >"$tmp/time" 2>"$tmp/err" || { cat "$tmp/err"; fail "views $options: a vector at an address that is no multiple of its size"; }
done
rm "$tmp/libcuda.so.1"
if have python3 python3 && ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
    rc=0
    python3 "$src/bench/cuda.py" >"$tmp/out" || rc=$?
    [ $rc = 77 ] && grep -q 'no NVIDIA driver' "$tmp/out" || fail "bench/cuda.py without a driver (exit $rc)"
fi

# Planted bugs are found: kernels, changed, run by the driver above; with races looked for when $5 is race.
# plant MODEL WHAT SED WORDS [race]; twin=FILE: in the emulation's twins of tensor cores instead
plant() {
    cp "$src/runtime/arn_cuda_mma.c" "$tmp/twins.c"
    cp "$tmp/$1.cu" "$tmp/planted.cu"
    changed=${twin:-planted.cu}
    sed "$3" "$tmp/$changed" >"$tmp/changed"
    cmp -s "$tmp/$changed" "$tmp/changed" && fail "nothing to plant in $1: $2"
    mv "$tmp/changed" "$tmp/$changed"
    cc="${CC:-cc} -std=gnu11 -O1 -w -fPIC -ffp-contract=off -DARN_CUDA_EMU -DFAKE_MODEL=$1_cuda -I$src/runtime -I$tmp"
    # shellcheck disable=SC2086
    $cc ${5:+-fsanitize=thread} -c -o "$tmp/planted.o" -x c "$tmp/planted.cu" && $cc -shared -o "$tmp/libcuda.so.1" "$tmp/planted.o" "$src/tests/cuda/fake_driver.c" \
        "$src/runtime/arn_cuda_emu.c" "$tmp/twins.c" ${5:+"$src/runtime/arn_cuda_race.c"} -lm || fail "planted: $2"
    if ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH="$tmp" "$tmp/main_$1" "the image" "$src/models/$1.in0.0.npy" "$tmp/want_$1/0.npy" 2>"$tmp/err"; then fail "not found: $2"; fi
    grep -q "$4" "$tmp/err" || { cat "$tmp/err"; fail "found, but not as '$4': $1: $2"; }
}
grep -q __syncthreads "$tmp/dsnet_f32.cu" || fail "no kernel has a barrier"
plant dsnet_f32 'no barrier' '/__syncthreads/d' 'status 100'
plant dsnet_f32 'no barrier' '/__syncthreads/d' 'race on' race
plant dsnet_f32 'a barrier that one thread misses' 's/__syncthreads();/if (threadIdx.x != 5) __syncthreads();/' 'waits at the barrier'
plant dsnet_f32 'a wrong lane' 's/x0\.v\[1\]/x0.v[2]/' 'status 100'
plant digits_f32 'a neighbour of another lane' 's/shfl_xor_f32(part\[0\], 16)/shfl_xor_f32(part[0], 4)/' 'status 100'
plant digits_f32 'a shuffle that half of the warp leaves out' 's/all\[0\] = part\[0\] + shfl_xor_f32(part\[0\], 16)/if (t % 32 < 16) all[0] = part[0] + shfl_xor_f32(part[0], 16)/' 'waits'
plant dsnet_f32 'threads write one element' 's/\*(f32x4 \*)(sw + (t[0-9]* \* 32 + /*(f32x4 *)(sw + (/' 'race on' race
plant dsnet_f32 'two blocks write one element' 's/blockIdx.x \* 64u + threadIdx.x/(blockIdx.x | 1) * 64u + threadIdx.x/; s/blockIdx.x \* 32u + threadIdx.x/(blockIdx.x | 1u) * 32u + threadIdx.x/' 'race on' race
grep -q '  mma_i8(' "$tmp/branch_int8.cu" || fail "no kernel multiplies by tensor cores"
plant branch_int8 'fragments of another row' 's/words\[t\([0-9]*\) + 2\] = /words[t\1 + 1] = /' 'status 100'
plant branch_int8 'a product that a lane leaves out' 's/  mma_i8(/  if (threadIdx.x != 3) mma_i8(/' 'waits'
plant branch_int8 'fragments read before they are there' '/__syncthreads/d' 'race on' race
twin=twins.c
plant branch_int8 'a wrong lane' 's/a\[g + 8\]\[q\] = all\[thread\]\[1\]/a[g + 8][q] = all[thread ^ 1][1]/' 'status 100'
plant branch_int8 'results of another lane' 's/return (int)(arn_emu_thread.x % 4) \* 2 + k % 2/return (int)(arn_emu_thread.x % 4) + k % 2 * 4/' 'status 100'
twin=
rm "$tmp/libcuda.so.1"
# Floats by tensor cores: the emulation's twins give the bits of the evaluator, and what is passed over is said.
for name in digits_f32 dsnet_f32; do
    for type in tf32 bf16 f16; do
        for backend in eval cuda-emu; do
            "$arenac" run -q "$src/models/$name.tflite" -t cuda-sm80 --tensor-cores $type --backend $backend --input 0="$src/models/$name.in0.0.npy" --output-dir "$tmp/$backend" || fail "$name $type $backend"
        done
        cmp "$tmp/eval/0.npy" "$tmp/cuda-emu/0.npy" || fail "$name by tensor cores in $type: not the bits of the evaluator"
    done
done
"$arenac" compile -q "$src/models/dsnet_f32.tflite" -t cuda-sm80 --tensor-cores f16 --emit cu -o "$tmp/half.cu" && grep -q '  mma_f16(' "$tmp/half.cu" || fail "no kernel multiplies floats by tensor cores"
"$arenac" compile "$m" -t cuda-sm75 --tensor-cores tf32 --emit cu -o "$tmp/w.cu" 2>&1 | grep -q 'from sm_80 on' || fail "tensor cores that are not there"
"$arenac" compile "$src/models/dsnet_f32.tflite" -t cuda-sm80 --exact --tensor-cores tf32 --emit cu -o "$tmp/w.cu" 2>&1 | grep -q 'multiply no floats' || fail "--exact and tensor cores"
"$arenac" plan "$m" --tensor-cores tf32 2>&1 | grep -q 'has no tensor cores' || fail "tensor cores of a CPU"

if "$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o "$tmp/b.ptx" 2>"$tmp/err"; then
    grep -q 'target sm_80' "$tmp/b.ptx" || fail "PTX"
    for t in cuda-sm75 cuda-sm90; do
        "$arenac" compile -q "$src/models/dsnet_f32.tflite" -t $t --emit cubin -o "$tmp/b.cubin" || fail "CUBIN for $t"
        head -c 4 "$tmp/b.cubin" | grep -q ELF || fail "CUBIN for $t"
    done
else
    grep -q 'needs NVRTC' "$tmp/err" || { cat "$tmp/err"; fail "no NVRTC"; }
    missing NVRTC "nvidia-cuda-nvrtc-cu12 from PyPI"
fi
echo "$n runs equal the evaluator"
