#!/bin/sh
# `nvcc app.cu net.cu`: the kernels are a part of the program, which opens the model without an image; no warnings.
# nvcc needs no GPU; a driver that is not NVIDIA's runs the launches. usage: cuda_nvcc.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require nvcc nvidia-cuda-toolkit
cat >app.cu <<'EOC'
#include "net.h"
#include <cstdio>
int main()
{
    const char *why = NULL;
    net_gpu *g = net_open(NULL, NULL, &why);
    printf("%s\n", g ? "open" : why);
    if (g)
        net_close(g);
    return !g;
}
EOC
for m in digits_f32 branch_int8; do
    "$arenac" compile -q "$models/$m.tflite" -t cuda-sm90 --name net --emit cu,h -o net
    nvcc -arch=sm_90 --fmad=false -Werror all-warnings -I"$src/runtime" -o app app.cu net.cu \
        "$src/runtime/arn_cuda.c" ||
        die "$m: nvcc"
    ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || ./app | grep -q 'no NVIDIA driver' || die "$m: without a driver"
done
