#!/bin/sh
# Objects for other machines run there: aarch64 and riscv64 under qemu-user, WebAssembly under node (five models each), Cortex-M in QEMU's
# boards: the bits of the evaluator for the same target. Skips what is missing, and says so.
# usage: cross.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
[ -e "$(dirname "$arenac")/arenac-llvm.so" ] || { echo "skipped: built without LLVM (llvm-19-dev)"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0 ran=0
have() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "not checked: $tool is missing"; return 1; }
    done
}
# compile NAME TARGET: $tmp/NAME.o, NAME.h and what the evaluator makes of the same loops, $tmp/NAME/0.npy
compile() {
    m=$(ls "$src/models/$1".tflite "$src/models/$1".ag 2>/dev/null)
    case $2 in cortex* | rv32*) host=generic ;; *) host=$2 ;; esac # firmware runs integer models: any schedule has their bits
    "$arenac" compile -q "$m" -t "$2" --name "$1" --emit o,h -o "$tmp/$1" &&
        "$arenac" run -q "$m" -t $host --backend eval --input 0="$src/models/$1.in0.0.npy" --output-dir "$tmp/$1"
}
check() { # STATUS WHAT
    ran=$((ran + 1))
    [ "$1" = 0 ] || { echo "FAILED: $2"; bad=1; }
}
five="digits_int8 digits_f32 branch_int8 dsnet_f32 gate"
two="digits_int8 dsnet_f32"
user() { # MODELS TARGET GCC QEMU...
    models=$1 target=$2 gcc=$3
    shift 3
    have "$gcc" "$1" python3 || return
    printf '#include <stdint.h>\nint main(void) { return 0; }\n' >"$tmp/probe.c"
    "$gcc" -static "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || { echo "not checked: $gcc has no C library"; return; }
    for name in $models; do
        compile $name "$target" &&
            python3 "$src/tests/host_main.py" $name $name.h "$src/models/$name.in0.0.npy" "$tmp/$name/0.npy" >"$tmp/main.c" &&
            "$gcc" -static -O1 -I"$tmp" "$tmp/main.c" "$tmp/$name.o" -o "$tmp/main" && "$@" "$tmp/main"
        check $? "$name for $target"
    done
}
user "$five" aarch64 aarch64-linux-gnu-gcc qemu-aarch64 -cpu cortex-a57
user digits_int8 aarch64-dotprod aarch64-linux-gnu-gcc qemu-aarch64 -cpu max
user digits_int8 aarch64-i8mm aarch64-linux-gnu-gcc qemu-aarch64 -cpu max
user "$two" aarch64-sve256 aarch64-linux-gnu-gcc qemu-aarch64 -cpu max,sve-default-vector-length=32
user gate rv64gc riscv64-linux-gnu-gcc qemu-riscv64
user "$five" rv64gcv riscv64-linux-gnu-gcc qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0
if have wasm-ld node; then
    for name in $five; do
        compile $name wasm32 &&
            wasm-ld --no-entry --allow-undefined --export=${name}_init --export=${name}_run --export=__heap_base "$tmp/$name.o" \
                -o "$tmp/$name.wasm" &&
            node "$src/tests/wasm_run.mjs" $name "$tmp/$name.wasm" "$tmp/$name.h" "$src/models/$name.in0.0.npy" "$tmp/$name/0.npy"
        check $? "$name for wasm32"
    done
fi
fw=$src/../shared/firmware/harness/fwrun.py
if [ -f "$fw" ] && have arm-none-eabi-gcc qemu-system-arm python3; then
    for target in cortex-m0plus cortex-m4 cortex-m55-mve; do
        case $target in cortex-m0plus) board=cortex-m3 ;; *) board=${target%-mve} ;; esac
        for name in digits_int8 branch_int8; do
            compile $name $target &&
                python3 "$src/tests/fw_main.py" $name $name.h "$src/models/$name.in0.0.npy" "$tmp/$name/0.npy" >"$tmp/main.c" &&
                python3 "$fw" --target $board --src "$tmp/$name.o" --main "$tmp/main.c" -O 2 --cflags="-I$tmp" >"$tmp/log"
            check $? "$name for $target"
        done
    done
fi
[ $ran -gt 0 ] || { echo "skipped: no emulator here"; exit 77; }
echo "$ran objects ran on other machines"
exit $bad
