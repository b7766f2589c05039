#!/bin/sh
# Generated C of the models here (and of ten public ones, when they are there) runs clean under ASan and UBSan, with
# poisoned dead bytes, and gives the reference. usage: sanitize.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
case $arenac in *asan*) echo "skipped: the release tool makes the same C"; exit 77 ;; esac
require python3 python3 gcc gcc
n=0
one() { # MODEL INPUT OUTPUT
    "$arenac" compile -q "$1" --name m --poison --weights rodata -o m.c &&
        python3 "$src/tests/host_main.py" m m.h "$2" "$3" >main.c &&
        gcc -std=c99 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I. m.c main.c -o m && ./m ||
        fail "$1"
    n=$((n + 1))
}
for m in digits branch dsnet; do
    one "$models/${m}_int8.tflite" "$models/${m}_int8.in0.1.npy" "$models/${m}_int8.out0.1.npy"
done
have_shared models || exit 0
for k in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8 hello_world_int8 micro_speech_int8 resnet8_int16x8 \
    inception_mini_96_int8 mobilenet_v1_025_96_int8 seanet_conv0 seanet_transpose_conv4; do
    d=$shared/models/tflite/$k
    [ -d "$d" ] || continue
    x=0
    [ $k != seanet_transpose_conv4 ] || x=1
    one "$(ls "$d"/*.tflite)" "$d/input${x}_0.npy" "$d/output0_0.npy"
done
echo "$n models"
