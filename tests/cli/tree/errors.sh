#!/bin/sh
# Errors outside of a model: files that cannot be written, missing processors, backends and compilers; a command that
# fails leaves no file. Messages about models: tests/golden. usage: errors.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
said=err.txt
model=$models/digits_int8.tflite

# a failed command writes nothing, whatever it was about to write
head -c 3000 "$model" >short.tflite
expect 1 'error' "$arenac" compile short.tflite -o short.c
printf 'id,lower,upper,size\na,0,2,-1\n' >bad.csv
expect 1 'negative' "$arenac" plan bad.csv --emit csv,problem -o bad
expect 2 'unknown target' "$arenac" compile -t z80 "$model" -o z.c
expect 2 'available: c,h,o' "$arenac" compile "$model" --emit c,nosuch -o n
expect 1 'the weights are missing' "$arenac" compile "$models/squares.prototxt" -o w.c
for f in short.c short.h bad.plan.csv bad.csv.problem z.c n.c n.h w.c w.h; do
    [ ! -e $f ] || fail "$f is left by a command that failed"
done

# backends: LLVM's module is not next to arenac; a module that is not a library
mkdir alone
cp "$arenac" alone/arenac
expect 8 'install arenac-llvm' alone/arenac run "$model" --backend llvm --random 1
expect 8 'install arenac-llvm' alone/arenac compile "$model" --emit o,h -o x
[ ! -e x.h ] || fail "a header without its object"
printf 'not a library' >arenac-broken.so
expect 8 'cannot be opened' env ARENAC_BACKENDS=. "$arenac" run "$model" --backend broken --random 1

# a target that does not run here: exit 2 with the missing features; compiling for it works
expect 2 'lacks the instruction set of WebAssembly' "$arenac" run "$model" -t wasm32 --random 1
case $(uname -m) in
aarch64) ;;
*) expect 2 'lacks the instruction set of 64-bit Arm' "$arenac" bench "$model" -t aarch64 ;;
esac
expect 0 '' "$arenac" compile -q "$model" -t cortex-m4 -o fw.c
older() { # CPU COMMAND...: under emulation
    cpu=$1
    shift
    qemu-x86_64 -cpu "$cpu" "$arenac" "$@"
}
if nm "$arenac" | grep -q __asan_init; then
    echo "qemu cannot hold the shadow memory of sanitizers: the release build checks what an older processor lacks"
elif ! have qemu-x86_64 qemu-user; then
    :
elif older Nehalem --version >/dev/null 2>&1; then
    expect 2 'lacks avx2,fma,f16c,bmi,bmi2,lzcnt' older Nehalem run "$model" -t x86-64-v3 --random 1
    expect 2 'lacks avx512f,avx512bw,.*avx512vnni' older Haswell run "$model" -t x86-64-v4-vnni --random 1
    expect 0 '' older Nehalem compile -q "$model" -t x86-64-v4-vnni -o v4.c
    expect 0 '' older Nehalem run -q "$model" -t x86-64-v3 --backend eval --random 1
else
    echo "skipped: nothing shows what an older processor lacks: qemu-x86_64 does not run arenac"
fi

# E0303: the host compiler is not there. E0302: files that cannot be written
expect 3 'E0303.*host compiler' env CC=/nonexistent/cc "$arenac" run "$model" --random 1
mkdir readonly
chmod a-w readonly
if [ "$(id -u)" != 0 ]; then expect 3 'E0302' "$arenac" compile "$model" -o readonly/x.c; fi
expect 3 "E0302.*folder '/nonexistent/folder' does not exist" "$arenac" compile "$model" -o /nonexistent/folder/x.c
# -o FOLDER/ creates the folder, but only if something is written
"$arenac" compile -q "$model" -o made/c/ && [ -e made/c/digits_int8.c ] && [ -e made/c/digits_int8.h ] ||
    fail "-o FOLDER/: not the model's name in the folder"
"$arenac" compile -q "$model" --emit make,svg -o made/both/ && [ -e made/both/Makefile ] &&
    [ -e made/both/digits_int8.svg ] || fail "-o FOLDER/ of a project and a picture"
"$arenac" plan -q "$model" --emit svg -o made/alone/ && [ -e made/alone/digits_int8.svg ] ||
    fail "-o FOLDER/ of one kind"
"$arenac" compile -q "$model" "$models/dsnet_int8.tflite" --share exclusive -o made/share/ &&
    [ -e made/share/shared.h ] && [ -e made/share/digits_int8.c ] || fail "-o FOLDER/ of several models"
printf 'id,lower,upper,size\na,0,2,1\n' >p.csv
"$arenac" plan -q p.csv -o ./ && grep -q '^a,0,2,1$' p.csv && [ -e p.plan.csv ] || fail "-o ./ writes over the problem"
expect 4 'over its budget' "$arenac" compile "$model" --budget 10 -o made/over/
[ ! -e made/over ] || fail "a folder of a plan over its budget"
[ ! -e /dev/full ] || expect 3 'E0302.*space' "$arenac" compile "$model" --emit c -o /dev/full
! ls -a . readonly | grep '\.tmp' || fail "a temporary file is left"
