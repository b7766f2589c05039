#!/bin/sh
# --stripe: same outputs as without, bit for bit, with poisoned dead bytes; plans that a checker without overlap rules
# accepts; arena sizes of known models. The reference models are outside of the repository; without them only models/ is
# tested. Single plans, invalid lists, budgets: tests/golden/plan and cli. usage: stripe.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

same() { # MODEL INPUT TARGET: both backends against a run without stripes
    "$arenac" run -q "$1" -t "$3" --backend eval --input "0=$2" --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$1" -t "$3" --stripe auto --align 4 --poison --backend $backend --input "0=$2" \
            --output-dir got
        cmp want/0.npy got/0.npy
    done
}
for m in branch digits dsnet; do
    for t in f32 int8; do
        f=$models/${m}_$t
        same "$f.tflite" "$f.in0.0.npy" generic
        "$arenac" run -q "$f.tflite" -t x86-64-v3 --stripe auto --poison --backend eval --input "0=$f.in0.1.npy" \
            --compare "0=$f.out0.1.npy"
        for align in 1 16; do verified "$f.tflite" --stripe auto --align $align; done
    done
done
f=$models/dsnet_int8 # groups as the user lists them
"$arenac" run -q "$f.tflite" -t generic --stripe 1-3,5-6 --align 4 --poison --backend c --input "0=$f.in0.0.npy" \
    --compare "0=$f.out0.0.npy"

for t in cortex-m4 cortex-m55 rv32imac; do # rows of floats move by words, too
    for o in off auto; do
        "$arenac" run -q "$models/squares.prototxt" "$models/squares.caffemodel" -t $t --stripe $o --backend eval \
            --random 3 --output-dir $o
    done
    cmp off/0.npy auto/0.npy
done

# the lock of the same model with another option names the option
f=$models/dsnet_int8.tflite
"$arenac" plan -q "$f" --lock plain.lock --update-lock
"$arenac" plan -q "$f" --lock striped.lock --update-lock --stripe auto
expect 6 'options differ: this plan with --stripe auto, the lock was not' \
    "$arenac" plan -q "$f" --lock plain.lock --stripe auto
! grep -q 'another model' err.txt || fail "$(cat err.txt)"
expect 6 'options differ: the lock was made with --stripe auto, this plan was not' \
    "$arenac" plan -q "$f" --lock striped.lock
expect 6 'options differ: the lock was made with -t generic, this plan with -t cortex-m4, --align 8' \
    "$arenac" plan -q "$f" --lock plain.lock -t cortex-m4 --align 8
sed -i '/^options/d' plain.lock # as older versions wrote it
expect 0 '' "$arenac" plan -q "$f" --lock plain.lock
# convolutions in stripes are as fast as others on Cortex-M4: the function for all channels, at an address in a window
"$arenac" compile -q "$f" -t cortex-m4 --stripe auto --stack estimate --emit c -o windows.c || fail "windows"
grep -q '  rows_2x4_17(line, w_*[0-9]*, rows_*[0-9]* + (.* - at[0-9]*), &(const rows_args)' windows.c ||
    fail "rows in a window: tiles, not rows_2x4"
[ "$bad" = 0 ] || exit 1

have_shared models || exit 0
at_most() { # NAME BYTES OPTION...
    f=$shared/models/tflite/$1/$1.tflite
    [ -f "$f" ] || return 0
    name=$1 most=$2
    shift 2
    bytes=$(arena_bytes "$f" --stripe auto --align 4 "$@")
    [ "$bytes" -le "$most" ] || die "$name: arena of $bytes bytes, expected at most $most"
    verified "$f" --stripe auto --align 4 "$@"
}
at_most kws_dscnn_int8 4400
at_most person_detect_int8 13950
at_most mobilenet_v1_025_96_int8 27800
at_most mobilenet_v2_100_224_int8 194500
at_most ic_resnet8_int8 12750
at_most mcunet_person_det_int8 73500 --quantized-io
at_most efficientnet_b0_w05_128_int8 115500
at_most unet_d4_96_int8 147600
for m in kws_dscnn_int8 ic_resnet8_int8; do
    f=$shared/models/tflite/$m
    [ ! -f "$f/$m.tflite" ] || same "$f/$m.tflite" "$f/input0_0.npy" generic
done
