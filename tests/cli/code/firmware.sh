#!/bin/sh
# Generated C runs bit exact on microcontroller cores in QEMU. Cores whose compiler or emulator is missing are left out.
# usage: firmware.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
fw=$shared/firmware/harness/fwrun.py
have_shared firmware/harness/fwrun.py && have python3 python3 || exit 77
targets=
! have_arm || targets="cortex-m4 cortex-m55"
! have_rv32 || targets="$targets rv32imac"
[ -n "$targets" ] || exit 77
one() { # NAME MODEL INPUT OUTPUT TARGET BOARD
    "$arenac" compile -q -t "$5" --stack estimate "$2" --name "$1" --weights rodata -o "$1.c" || { fail "$1"; return; }
    python3 "$src/tests/fw_main.py" "$1" "$1.h" "$3" "$4" >main.c || { fail "$1"; return; }
    python3 "$fw" --target $6 --src "$1.c" --main main.c -O 2 --cflags="-I$tmp" || fail "$1 on $5"
}
m=$models
# all channels of four pixels are one function there: results alone do not show it
"$arenac" compile -q -t rv32imac --stack estimate "$m/digits_int8.tflite" --emit c -o words.c || fail words
grep -q ' rows_4x4(line' words.c || fail 'tiles of words, not rows_4x4'
for t in $targets; do
    case $t in rv32imac) q=rv32 ;; *) q=$t ;; esac
    one digits "$m/digits_int8.tflite" "$m/digits_int8.in0.0.npy" "$m/digits_int8.out0.0.npy" $t $q
    one branch "$m/branch_int8.tflite" "$m/branch_int8.in0.1.npy" "$m/branch_int8.out0.1.npy" $t $q
    for k in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8; do
        d=$shared/models/tflite/$k
        [ -d "$d" ] || continue
        f=$(ls "$d"/*.tflite)
        one "${k%%_*}" "$f" "$d/input0_0.npy" "$d/output0_0.npy" $t $q
    done
done
