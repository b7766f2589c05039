#!/bin/sh
# --overlap on: same outputs with poisoned dead bytes, plans that a checker without overlap rules accepts, arena sizes
# of known models. The reference models are outside of the repository; without them only models/ is tested. usage:
# overlap.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

# same MODEL INPUT REFERENCE: both backends, against the stored output, and the bits of a run without overlap
same() {
    "$arenac" run -q "$1" -t generic --overlap off --backend eval --input "0=$2" --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$1" -t generic --overlap on --align 4 --poison --backend $backend --input "0=$2" \
            --compare "0=$3" --output-dir got
        cmp want/0.npy got/0.npy
    done
}
for m in branch digits dsnet; do
    for t in f32 int8; do
        f=$models/${m}_$t
        for k in 0 1 2; do same "$f.tflite" "$f.in0.$k.npy" "$f.out0.$k.npy"; done
        "$arenac" run -q "$f.tflite" -t x86-64-v3 --overlap on --poison --backend eval --input "0=$f.in0.0.npy" \
            --compare "0=$f.out0.0.npy"
        for align in 1 16; do
            verified "$f.tflite" --overlap on --align $align
            "$arenac" plan -q "$f.tflite" --overlap on --preserve input --align $align --json >keep.json
        done
    done
done

have_shared models || exit 0
at_most() { # NAME BYTES
    f=$shared/models/tflite/$1/$1.tflite
    [ -f "$f" ] || return 0
    bytes=$(arena_bytes "$f" --overlap on --align 4)
    [ "$bytes" -le "$2" ] || die "$1: arena of $bytes bytes, expected at most $2"
    verified "$f" --overlap on --align 4
    if have_shared planning/verify_plan.py && have python3 python3; then
        python3 "$shared/planning/verify_plan.py" verified.problem.csv verified.csv --quiet
    fi
}
at_most kws_dscnn_int8 8400
at_most ic_resnet8_int8 33400
at_most person_detect_int8 36900
at_most mobilenet_v1_025_96_int8 36900
at_most mobilenet_v2_100_224_int8 1205000
at_most efficientnet_b0_w05_128_int8 197000
at_most unet_d4_96_int8 221500

for m in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8; do
    f=$shared/models/tflite/$m
    [ -f "$f/$m.tflite" ] || continue
    for k in 0 1; do same "$f/$m.tflite" "$f/input0_$k.npy" "$f/output0_$k.npy"; done
done
f=$shared/conformance/tflite_ops/lstm-01.f32 # splits: steps with several results, which must agree on one direction
[ ! -f "$f/model.tflite" ] || same "$f/model.tflite" "$f/set0/in_0.npy" "$f/set0/out_0.npy"
