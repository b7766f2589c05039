#!/bin/sh
# The CUDA backend without a GPU: kernels of the models here in the emulation, with and without a check of every access,
# also with floats on tensor cores; the .cu file's host part is warning free; the same bytes in two runs; PTX and CUBIN
# if NVRTC is found, and the message if it is not. Kernels as text: tests/golden/cuda. usage: cuda.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
n=0
for m in "$models"/*.tflite "$models"/*.ag; do
    stem=${m%.*}
    name=$(basename "$stem")
    for backend in "cuda-emu -t cuda-sm80" "cuda-race -t cuda-sm90"; do
        "$arenac" run -q "$m" -t "${backend##* }" --backend eval --input 0="$stem.in0.0.npy" --output-dir want ||
            die "$name eval"
        # shellcheck disable=SC2086
        "$arenac" run -q "$m" --backend $backend --input 0="$stem.in0.0.npy" --output-dir got || die "$name $backend"
        cmp want/0.npy got/0.npy || die "$name $backend: not the bits of the evaluator"
        n=$((n + 1))
    done
    for cu in first second; do
        "$arenac" compile -q "$m" -t cuda-sm90 --name "$name" --emit cu,h -o "$name"
        cp "$name.cu" $cu.cu
    done
    cmp first.cu second.cu || die "$name: two runs differ"
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$src/runtime" -x c -c "$name.cu" -o "$name.o" ||
        die "$name: the host's part"
done
for name in digits_f32 dsnet_f32; do # floats by tensor cores: the emulation's twins give the bits of the evaluator
    for type in tf32 bf16 f16; do
        for backend in eval cuda-emu; do
            "$arenac" run -q "$models/$name.tflite" -t cuda-sm80 --tensor-cores $type --backend $backend \
                --input 0="$models/$name.in0.0.npy" --output-dir $backend || die "$name $type $backend"
        done
        cmp eval/0.npy cuda-emu/0.npy || die "$name by tensor cores in $type: not the bits of the evaluator"
    done
done
# Few results, each by a warp: means over other dimensions than the last, convolutions of one pixel, odd numbers of
# columns; each is one launch
cat >small.ag <<'EOF'
graph small {
  input x: f32[2,7,7,40]
  input q: i8[1,6,6,24] q(0.1, 3)
  m: f32[2,1,1,40] = mean(x) axes=[1,2] keep_dims=true
  mx: f32[2,40] = reduce_max(x) axes=[1,2]
  mq: i8[1,24] q(0.05, 1) = mean(q) axes=[1,2]
  s: f32[7,40] = sum(x) axes=[0,2]
  s1: f32[7,7] = sum(x) axes=[0,3]
  const w: f32[19,1,1,80] = random 3
  const w1: f32[13,1,1,40] = random 4
  const w2: f32[5,7,7,40] = random 5
  c = conv_2d(m, w1) act=relu
  d = conv_2d(x, w2)
  const wq: i8[5,6,6,24] q(0.01, 0) = random 6 (-127, 127)
  const bq: i32[5] = random 7 (-1000, 1000)
  e: i8[1,1,1,5] q(0.7, 0) = conv_2d(q, wq, bq)
  const wf: f32[6,80] = random 8
  const sh: i32[2] = [1, 80]
  mr = reshape(m, sh)
  f = fully_connected(mr, wf)
  const wg: f32[6,13] = random 9
  const sg: i32[2] = [2, 13]
  cr = reshape(c, sg)
  h = fully_connected(cr, wg)
  output m, mx, mq, s, s1, c, d, e, f, h
}
EOF
for backend in eval cuda-race; do
    "$arenac" run -q small.ag -t cuda-sm90 --backend $backend --random 3 --output-dir $backend || die "small $backend"
done
for f in eval/*.npy; do
    cmp "$f" "cuda-race/${f#eval/}" || die "few results: not the bits of the evaluator"
done
"$arenac" plan -q --json small.ag -t cuda-sm80 >small.json
[ "$(grep -c '"part": *0' small.json)" = 10 ] && ! grep '"part": *[1-9]' small.json || die "10 operators, 10 launches"
m=$models/branch_int8.tflite
"$arenac" run -q "$m" --backend cuda-emu --per-node --random 3 >nodes || die "--per-node"
[ ! -e "$(dirname "$arenac")/arenac-llvm.so" ] ||
    expect 8 'the LLVM backend does not support' "$arenac" compile "$m" -t cuda-sm80 --emit o -o x.o
"$arenac" compile -q "$m" -t cuda-sm80 --weights blob --emit cu,h -o blob.cu && [ -e blob.bin ] ||
    die "no blob beside the kernels"

# NVRTC: missing; an old one in a separate folder, with its second library next to it, and a GPU that it does not
# support
export ARENAC_NVRTC=/nowhere/libnvrtc.so
expect 8 'pip install nvidia-cuda-nvrtc' "$arenac" compile "$m" -t cuda-sm80 --emit ptx -o x.ptx
mkdir toolkit
fake=$src/tests/cuda/fake_nvrtc.c builtins=libnvrtc-builtins.so.11.8
"${CC:-cc}" -shared -fPIC -DBUILTINS -Wl,-soname,$builtins -o toolkit/$builtins "$fake" &&
    "${CC:-cc}" -shared -fPIC -o toolkit/libnvrtc.so.11.2 "$fake" -ldl || die "a library in NVRTC's place"
ARENAC_NVRTC=$tmp/toolkit/libnvrtc.so.11.2
"$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o old.ptx && grep -q 'PTX of no device' old.ptx ||
    die "NVRTC's second library is not found"
expect 8 'NVRTC 11.8 does not support sm_100' "$arenac" compile "$m" -t cuda-sm100 --emit cubin -o old.cubin
unset ARENAC_NVRTC
ldconfig -p 2>/dev/null | grep -q libcuda.so.1 ||
    expect 8 'cuda-emu runs the same kernels' "$arenac" run "$m" --backend cuda --random 1
if "$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o b.ptx 2>err; then
    grep -q 'target sm_80' b.ptx || die "PTX"
    for t in cuda-sm75 cuda-sm90; do
        "$arenac" compile -q "$models/dsnet_f32.tflite" -t $t --emit cubin -o b.cubin || die "CUBIN for $t"
        head -c 4 b.cubin | grep -q ELF || die "CUBIN for $t"
    done
else
    grep -q 'needs NVRTC' err || { cat err; die "no NVRTC"; }
    missing NVRTC "nvidia-cuda-nvrtc-cu12 from PyPI"
fi
echo "$n runs equal the evaluator"
