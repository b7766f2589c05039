#!/bin/sh
# Generated C of the models here (and of ten public ones, when they are there) runs clean under ASan and UBSan, with poisoned
# dead bytes, and gives the reference. usage: sanitize.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
case $arenac in *asan*) echo "skipped: the release tool makes the same C"; exit 77 ;; esac
n=0 bad=0
one() { # MODEL INPUT OUTPUT
    tmp=$(mktemp -d)
    "$arenac" compile -q "$1" --name m --poison --weights rodata -o "$tmp/m.c" && python3 "$src/tests/host_main.py" m m.h "$2" "$3" >"$tmp/main.c" &&
        gcc -std=c99 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I"$tmp" "$tmp/m.c" "$tmp/main.c" -o "$tmp/m" &&
        "$tmp/m" || { echo "FAILED: $1"; bad=1; }
    rm -rf "$tmp"
    n=$((n + 1))
}
require python3 python3 gcc gcc
for m in digits branch dsnet; do
    one "$src/models/${m}_int8.tflite" "$src/models/${m}_int8.in0.1.npy" "$src/models/${m}_int8.out0.1.npy"
done
have_shared models || exit $bad
for k in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8 hello_world_int8 micro_speech_int8 resnet8_int16x8 inception_mini_96_int8 \
    mobilenet_v1_025_96_int8 seanet_conv0 seanet_transpose_conv4; do
    d=$shared/models/tflite/$k
    [ -d "$d" ] || continue
    x=0
    [ $k = seanet_transpose_conv4 ] && x=1
    one "$(ls "$d"/*.tflite)" "$d/input${x}_0.npy" "$d/output0_0.npy"
done
echo "$n models"
exit $bad
