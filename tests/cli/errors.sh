#!/bin/sh
# Bad input: the right exit code, a message, no partial output. usage: errors.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
said=err.txt
model=$src/models/digits_int8.tflite
expect 3 'No such file' "$arenac" plan missing.tflite
: >empty.tflite
expect 1 'empty' "$arenac" plan empty.tflite
head -c 3000 "$model" >short.tflite
expect 1 'error' "$arenac" compile short.tflite -o short.c
[ ! -e short.c ] && [ ! -e short.h ] || fail "partial output of a truncated model"
printf '<!DOCTYPE html><html>not a model</html>' >page.tflite
expect 1 'error' "$arenac" check page.tflite
expect 3 'directory' "$arenac" plan "$tmp"
expect 2 'did you mean' "$arenac" plna "$model"
expect 2 "did you mean '--planner'" "$arenac" plan --plannr greedy "$model"
expect 2 'size' "$arenac" plan --budget 1.5k "$model"
expect 2 'unknown target' "$arenac" compile -t z80 "$model" -o z.c
expect 2 'planner' "$arenac" plan --planner magic "$model"
expect 4 'over its budget' "$arenac" plan --budget 100 "$model"
expect 2 'is not given' "$arenac" run "$model"
expect 2 'but ' "$arenac" run "$model" --input 0="$src/models/dsnet_int8.in0.0.npy"
expect 2 'none of the model' "$arenac" run "$model" --input nosuch="$src/models/digits_int8.in0.0.npy"
expect 5 'differs from' "$arenac" run "$model" --input 0="$src/models/digits_int8.in0.0.npy" --compare 0="$src/models/digits_int8.out0.2.npy" --backend eval
mkdir alone # without the module of the LLVM backend beside it
cp "$arenac" alone/arenac
expect 8 'install llvm-19-dev' alone/arenac run "$model" --backend llvm --random 1
expect 8 'install llvm-19-dev' alone/arenac compile "$model" --emit o,h -o x
[ ! -e x.h ] || fail "a header without its object"
expect 8 'arenac-nosuch.so' "$arenac" run "$model" --backend nosuch --random 1
expect 8 'available: c,h,o' "$arenac" compile "$model" --emit nosuch
printf 'not a library' >arenac-broken.so
expect 8 'cannot be opened' env ARENAC_BACKENDS=. "$arenac" run "$model" --backend broken --random 1
expect 8 'not printed for the vectors' "$arenac" compile "$model" -t aarch64 -o x.c
# a target that does not run here: exit 2 with what is missing; compiling for it works
expect 2 'lacks the instruction set of WebAssembly' "$arenac" run "$model" -t wasm32 --random 1
expect 2 'lacks the instruction set of 64-bit Arm' "$arenac" bench "$model" -t aarch64
expect 2 'the target is firmware' "$arenac" run "$model" -t cortex-m4 --random 1
expect 0 '' "$arenac" compile -q "$model" -t cortex-m4 -o fw.c
if nm "$arenac" | grep -q __asan_init; then
    echo "qemu cannot hold the shadow memory of the sanitizers: the release build checks what an older processor lacks"
elif ! have qemu-x86_64 qemu-user; then
    :
elif qemu-x86_64 -cpu Nehalem "$arenac" --version >/dev/null 2>&1; then
    expect 2 'lacks avx2,fma,f16c,bmi,bmi2,lzcnt' qemu-x86_64 -cpu Nehalem "$arenac" run "$model" -t x86-64-v3 --random 1
    expect 2 'lacks avx512f,avx512bw,.*avx512vnni' qemu-x86_64 -cpu Haswell "$arenac" run "$model" -t x86-64-v4-vnni --random 1
    expect 0 '' qemu-x86_64 -cpu Nehalem "$arenac" compile -q "$model" -t x86-64-v4-vnni -o v4.c
    expect 0 '' qemu-x86_64 -cpu Nehalem "$arenac" run -q "$model" -t x86-64-v3 --backend eval --random 1
else
    echo "skipped: nothing shows what an older processor lacks: qemu-x86_64 does not run arenac"
fi
expect 2 'keeps everything in one' "$arenac" plan "$model" "$model"
expect 2 'no tensor' "$arenac" plan "$model" --outputs nosuch
expect 3 'host compiler' env CC=/nonexistent/cc "$arenac" run "$model" --random 1
mkdir readonly
chmod a-w readonly
if [ "$(id -u)" != 0 ]; then expect 3 'annot' "$arenac" compile "$model" -o readonly/x.c; fi
expect 3 'annot' "$arenac" compile "$model" -o /nonexistent/folder/x.c
[ -e /dev/full ] && expect 3 'space' "$arenac" compile "$model" --emit c -o /dev/full
printf 'id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n' >overlap.csv
expect 7 'E0701' "$arenac" verify overlap.csv
printf 'id,lower,upper\na,0,2\n' >nosize.csv
expect 1 'size' "$arenac" plan nosize.csv
printf 'graph g {\n  input x: f32[1,4]\n  y = relu(z)\n  output y\n}\n' >name.ag
expect 1 'name.ag:3:12' "$arenac" check name.ag
exit $bad
