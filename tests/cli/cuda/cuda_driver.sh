#!/bin/sh
# The host's side of the CUDA backend, with a driver that checks the rules: launches, a graph, another stream, a model
# with state, images that cannot be loaded; the program that bench/cuda.py times models with; vectors at aligned
# addresses only; and that planted bugs are found. usage: cuda_driver.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
have_sanitizers "${CC:-cc}" || exit 77
. "$src/tests/cli/cuda/cuda_tools"

target=cuda-sm90
for name in branch_int8 digits_f32 dsnet_f32; do
    "$arenac" compile -q "$models/$name.tflite" -t cuda-sm90 --name "$name" --emit cu,h -o "$name"
    driver $name "$name.cu"
    program $name -fsanitize=address,undefined
    run_program $name "the image" || { cat err; die "$name through the driver"; }
    grep -q 'all given back' err || { cat err; die "$name: not all was given back"; }
    # 3 times as launches or captured: all but the first are early; no launch sets the status, so only open clears it
    grep -q "^$(($(grep -c '^    {[0-9].*u, [0-9]*, [0-9]*}, /' "$name.cu") * 3 - 3)) early launches, 1 memsets" err ||
        { cat err; die "$name: how many launches start early"; }
    FAKE_OLD_DRIVER=1 run_program $name "the image" && grep -q '^0 early launches' err || die "$name: CUDA 12.2"
    ! run_program $name "another" || die "a bad image"
    grep -q 'cannot be loaded' err || { cat err; die "what is said of a bad image"; }
done

# Kernels inside of the program, of two targets, and PTX: the newest that the device runs.
mkdir toolkit
fake=$cuda/fake_nvrtc.c builtins=libnvrtc-builtins.so.11.8
"${CC:-cc}" -shared -fPIC -DBUILTINS -Wl,-soname,$builtins -o toolkit/$builtins "$fake" &&
    "${CC:-cc}" -shared -fPIC -o toolkit/libnvrtc.so.11.2 "$fake" -ldl || die "a library in NVRTC's place"
ARENAC_NVRTC=$tmp/toolkit/libnvrtc.so.11.2 "$arenac" compile -q "$models/dsnet_f32.tflite" -t cuda-sm90,cuda-sm80 \
    --name dsnet_f32 --emit cu,h -o dsnet_f32
driver dsnet_f32 dsnet_f32.cu
target=cuda-sm80 # the lowest of the list
program dsnet_f32 -fsanitize=address,undefined
opens() {
    FAKE_CAPABILITY=$1 FAKE_IMAGE=$2 run_program dsnet_f32 - || { cat err; die "on $1: not '$2'"; }
}
opens 80 "CUBIN of sm_80"
opens 86 "CUBIN of sm_80"
opens 90 "CUBIN of sm_90"
opens 120 "// PTX of no device"
! FAKE_CAPABILITY=75 run_program dsnet_f32 - && grep -q 'no kernels for compute capability 7.5' err || die "on 75"
! FAKE_CAPABILITY=none run_program dsnet_f32 - && grep -q 'does not tell the compute capability' err || die "on none"
expect 2 "a list of targets is one of GPUs, but it has 'generic'" "$arenac" compile "$models/dsnet_f32.tflite" \
    -t cuda-sm80,generic --emit cu -o no.cu
expect 2 "unknown target 'cuda-sm8'" "$arenac" compile "$models/dsnet_f32.tflite" -t cuda-sm80,cuda-sm8 --emit cu \
    -o no.cu

# Dynamic shared memory: the driver has to be told before, and has no more than the device.
target=cuda-sm90
"$arenac" compile -q "$models/dsnet_f32.tflite" -t $target --name dsnet_f32 --emit cu,h -o dsnet_f32
sed '/^static const struct arn_cuda_kernel/,/^};/s/, 0u, 0u},$/, 100000u, 0u},/' dsnet_f32.cu >dynamic.cu
for most in 100000 300000; do
    sed "s/, 100000u, 0u},\$/, ${most}u, 0u},/" dynamic.cu >dsnet_f32.cu
    driver dsnet_f32 dsnet_f32.cu
    program dsnet_f32 -fsanitize=address,undefined
    [ $most = 300000 ] || run_program dsnet_f32 "the image" || { cat err; die "100,000 bytes of shared memory"; }
done
! run_program dsnet_f32 "the image" && grep -q 'too little shared memory' err || { cat err; die "300,000 bytes"; }

# The program that bench/cuda.py times models with, and its output without a GPU.
"$arenac" compile -q "$models/digits_f32.tflite" -t $target --name net --emit cu,h -o net
printf 'the image' >image
driver net net.cu
timer net.cu
tail -c "$(sed -n 's/.*NET_IN0_BYTES \([0-9]*\)u.*/\1/p' net.h)" "$models/digits_f32.in0.0.npy" >x.bin
LD_LIBRARY_PATH="$tmp" ./time_net image 0.01 y.bin x.bin >time 2>err && grep -q 'graph_ms=[0-9]' time ||
    { cat err; die "timing"; }
tail -c "$(wc -c <y.bin)" want_digits_f32/0.npy | cmp - y.bin || die "what is timed is not what runs"

# Views at any offset: vectors are loaded only from addresses that are multiples of their size.
cat >views.ag <<'EOF'
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
    "$arenac" compile -q views.ag -t cuda-sm80 $options --name net --emit cu,h -o net || die "views"
    grep -q '0x[0-9a-f]*4, [0-9]*u}, /\* x \*/' net.cu || die "no view begins between two vectors"
    driver net net.cu -fsanitize=alignment -fsanitize-undefined-trap-on-error
    timer net.cu
    LD_LIBRARY_PATH="$tmp" ./time_net image 0 >time 2>err ||
        { cat err; die "views $options: a vector at an address that is no multiple of its size"; }
done
rm libcuda.so.1
if have python3 python3 && ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
    rc=0
    python3 "$src/bench/cuda.py" >out || rc=$?
    [ $rc = 77 ] && grep -q 'no NVIDIA driver' out || die "bench/cuda.py without a driver (exit $rc)"
fi
