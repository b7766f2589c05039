#!/bin/sh
# Objects for other machines run there: aarch64 and riscv64 under qemu-user, WebAssembly under node (five models each),
# Cortex-M and RV32 on QEMU's boards: the bits of the evaluator for the same target. Skips parts whose tools are
# missing, and reports them. usage: cross.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_llvm && have_numpy || exit 77
ran=0
# find NAME: m=the model, x=its input
find() {
    m=$(ls "$models/$1".tflite "$models/$1".ag "$models/$1".pbtxt "$src/tests/cross/$1".ag 2>/dev/null)
    x=$models/$1.in0.0.npy
    [ -e "$x" ] || x=$tmp/$1.in.npy
}
# compile NAME TARGET: $tmp/NAME.o, NAME.h and what the evaluator makes of the same loops, $tmp/NAME/0.npy
compile() {
    find "$1"
    case $2 in cortex* | rv32*) host=generic ;; *) host=$2 ;; esac # these have the loops of generic, or integers only
    "$arenac" compile -q "$m" -t "$2" --name "$1" --emit o,h -o "$1" &&
        "$arenac" run -q "$m" -t $host --backend eval --input 0="$x" --output-dir "$1"
}
check() { # STATUS WHAT
    ran=$((ran + 1))
    [ "$1" = 0 ] || fail "$2"
}
"$py" -c 'import numpy as np
for name, shape in (("encoder", (1, 12, 16)), ("layers", (1, 24, 9, 9)), ("planes", (1, 96, 44, 44))):
    np.save(name + ".in.npy", np.random.default_rng(7).standard_normal(shape).astype(np.float32))' || exit 77
# integers, a concatenation, convolutions, recurrent, transformer
five="digits_int8 branch_int8 dsnet_f32 tf_rnn encoder"
user() { # MODELS TARGET GCC QEMU...
    nets=$1 target=$2 gcc=$3
    shift 3
    arch=${target%%-*} # of the packages
    case $target in aarch64* | neoverse*) arch=arm64 ;; rv64*) arch=riscv64 ;; cortex-a[579]) arch=armhf ;; esac
    have "$gcc" "gcc-${gcc%-gcc}" "$1" qemu-user || return
    links "$gcc" -static || { missing "the C library of $gcc" "libc6-dev-$arch-cross"; return; }
    for name in $nets; do
        compile $name "$target" && $mend "$gcc" &&
            "$py" "$src/tests/host_main.py" $name $name.h "$x" "$name/0.npy" >main.c &&
            "$gcc" -static -O1 -I. main.c "$name.o" -o main && "$@" ./main
        check $? "$name for $target: $*"
    done
}
# QEMU before 8.0 ends when a block begins with a vector conversion that rounds towards zero. There the object is made
# from the assembly text with such a conversion in two steps; every other instruction stays.
mend=true
round_twice() {
    "$arenac" compile -q "$m" -t "$target" --name "$name" --emit s -o "$name.s" &&
        sed 's/^\([[:space:]]*vf[nw]*cvt\)\.rtz\(\..*\)/\tfsrmi\t1\n\1\2\n\tfsrmi\t0/' "$name.s" >mended.s &&
        "$1" -march=rv64gcv -c mended.s -o "$name.o"
}
rv64v() { # MODELS VLEN
    gcc=riscv64-linux-gnu-gcc
    cpu=rv64,v=true,vlen=$2,vext_spec=v1.0
    asm='vsetivli zero,2,e32,m1,ta,ma; vfncvt.rtz.x.f.w v1,v2'
    echo "int main(void) { __asm__ volatile(\"$asm\"); return 0; }" >probe.c
    if "$gcc" -march=rv64gcv -static probe.c -o probe 2>/dev/null; then
        qemu-riscv64 -cpu $cpu ./probe >/dev/null 2>&1 || mend=round_twice
    fi
    user "$1" rv64gcv $gcc qemu-riscv64 -cpu $cpu
    mend=true
}
arm64() { # MODELS TARGET CPU
    user "$1" "$2" aarch64-linux-gnu-gcc qemu-aarch64 -cpu "$3"
}
for core in a5 a7 a9; do
    case $core in a5) qemu=a7 ;; *) qemu=$core ;; esac
    user "digits_int8 dsnet_f32 encoder" cortex-$core arm-linux-gnueabihf-gcc qemu-arm -cpu cortex-$qemu
done
arm64 "$five layers planes" aarch64 cortex-a57
arm64 "dsnet_int8 encoder layers" aarch64-dotprod max
arm64 dsnet_int8 aarch64-i8mm max
arm64 "dsnet_int8 dsnet_f32 encoder layers planes" aarch64-sve256 max,sve-default-vector-length=32
arm64 "dsnet_int8 encoder" aarch64-sve256 max,sve-default-vector-length=64
arm64 dsnet_int8 neoverse-v1 max,sve-default-vector-length=32
user "gate encoder" rv64gc riscv64-linux-gnu-gcc qemu-riscv64
rv64v "$five" 128
rv64v "dsnet_int8 encoder layers planes" 256
if have wasm-ld lld node nodejs; then
    for name in $five; do
        compile $name wasm32 &&
            wasm-ld --no-entry --allow-undefined --export=${name}_init --export=${name}_run --export=__heap_base \
                "$name.o" -o "$name.wasm" &&
            node "$src/tests/wasm_run.mjs" $name "$name.wasm" "$name.h" "$x" "$name/0.npy"
        check $? "$name for wasm32"
    done
fi
fw=$shared/firmware/harness/fwrun.py
if have_shared firmware/harness/fwrun.py && have_arm; then
    firmware() { # TARGET BOARD MODELS
        for name in $3; do
            compile $name $1 &&
                "$py" "$src/tests/fw_main.py" $name $name.h "$x" "$name/0.npy" >main.c &&
                "$py" "$fw" --target $2 --src "$name.o" --main main.c -O 2 --cflags="-I$tmp" >log
            check $? "$name for $1"
        done
    }
    firmware cortex-m0plus cortex-m3 "digits_int8 branch_int8"
    firmware cortex-m4 cortex-m4 "digits_int8 branch_int8 dsnet_f32 encoder"
    firmware cortex-m7 cortex-m7 "digits_int8 dsnet_f32"
    firmware cortex-m33 cortex-m33 "digits_int8 dsnet_f32"
    firmware cortex-m55 cortex-m55 digits_int8
    firmware cortex-m55-mve cortex-m55 "dsnet_int8 branch_int8"
    have_rv32 && firmware rv32imac rv32 "digits_int8 branch_int8"
fi
[ $ran -gt 0 ] || exit 77
echo "$ran objects ran on other machines"
