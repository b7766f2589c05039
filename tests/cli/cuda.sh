#!/bin/sh
# The CUDA backend without a GPU: kernels of the models here in the emulation, with and without a look at every access; the .cu
# file's host part is warning free; the same bytes in two runs; PTX and CUBIN where NVRTC is found; what is said where it is not.
# usage: cuda.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v "${CC:-cc}" >/dev/null || { echo "skipped: no C compiler"; exit 77; }
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
unset ARENAC_NVRTC
ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || refused 8 'cuda-emu runs the same kernels' run "$m" --backend cuda --random 1
"$arenac" compile "$m" -t cuda-sm80 --stripe auto --threads 2 --emit cu -o "$tmp/w.cu" >/dev/null 2>"$tmp/err" || fail "warnings"
grep -q 'no order' "$tmp/err" && grep -q 'threads of its own' "$tmp/err" || fail "orders are dropped without a word"

if "$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o "$tmp/b.ptx" 2>"$tmp/err"; then
    grep -q 'target sm_80' "$tmp/b.ptx" || fail "PTX"
    for t in cuda-sm75 cuda-sm90; do
        "$arenac" compile -q "$src/models/dsnet_f32.tflite" -t $t --emit cubin -o "$tmp/b.cubin" || fail "CUBIN for $t"
        head -c 4 "$tmp/b.cubin" | grep -q ELF || fail "CUBIN for $t"
    done
else
    grep -q 'needs NVRTC' "$tmp/err" || { cat "$tmp/err"; fail "no NVRTC"; }
    echo "no NVRTC here: PTX and CUBIN were not made"
fi
echo "$n runs equal the evaluator"
