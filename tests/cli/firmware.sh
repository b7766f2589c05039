#!/bin/sh
# Generated C runs bit exact on microcontroller cores in QEMU. Skips when the harness, the cross compilers or QEMU are missing.
# usage: firmware.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2 fw=$2/../shared/firmware/harness/fwrun.py
[ -f "$fw" ] || { echo "skipped: no firmware harness beside the repository"; exit 77; }
for tool in arm-none-eabi-gcc riscv64-unknown-elf-gcc qemu-system-arm qemu-system-riscv32 python3; do
    command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
one() { # NAME MODEL INPUT OUTPUT
    "$arenac" compile -q -t "$5" "$2" --name "$1" --weights rodata -o "$tmp/$1.c" || { bad=1; return; }
    python3 "$src/tests/fw_main.py" "$1" "$1.h" "$3" "$4" >"$tmp/main.c" || { bad=1; return; }
    python3 "$fw" --target "${6:-$5}" --src "$tmp/$1.c" --main "$tmp/main.c" -O 2 --cflags="-I$tmp" || { echo "FAILED: $1 on $5"; bad=1; }
}
m=$src/models
for t in cortex-m4 cortex-m55 rv32imac; do
    case $t in rv32imac) q=rv32 ;; *) q=$t ;; esac
    one digits "$m/digits_int8.tflite" "$m/digits_int8.in0.0.npy" "$m/digits_int8.out0.0.npy" $t $q
    one branch "$m/branch_int8.tflite" "$m/branch_int8.in0.1.npy" "$m/branch_int8.out0.1.npy" $t $q
    for k in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8; do
        d=$src/../shared/models/tflite/$k
        [ -d "$d" ] || continue
        f=$(ls "$d"/*.tflite)
        one "${k%%_*}" "$f" "$d/input0_0.npy" "$d/output0_0.npy" $t $q
    done
done
exit $bad
