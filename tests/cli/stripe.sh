#!/bin/sh
# --stripe auto: same outputs as without, bit for bit, with poisoned dead bytes; plans that a checker without overlap rules
# accepts; arena sizes of known models; the cheapest plan under a budget. The reference models lie outside of the repository;
# without them only models/ is looked at.
# usage: stripe.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

same() { # MODEL INPUT TARGET: both backends against a run without stripes
    "$arenac" run -q "$1" -t "$3" --backend eval --input "0=$2" --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$1" -t "$3" --stripe auto --align 4 --poison --backend $backend --input "0=$2" --output-dir got
        cmp want/0.npy got/0.npy
    done
}
for m in branch digits dsnet; do
    for t in f32 int8; do
        f=$src/models/${m}_$t
        same "$f.tflite" "$f.in0.0.npy" generic
        "$arenac" run -q "$f.tflite" -t x86-64-v3 --stripe auto --poison --backend eval --input "0=$f.in0.1.npy" --compare "0=$f.out0.1.npy"
        for align in 1 16; do
            "$arenac" plan -q "$f.tflite" --stripe auto --align $align --emit problem,csv -o plan
            "$arenac" verify plan.csv plan.problem.csv >/dev/null
        done
    done
done

arena() { # MODEL OPTION...: bytes
    "$arenac" plan "$@" --align 4 --json | sed -n 's/.*"arena_bytes": *\([0-9]*\).*/\1/p' | head -1
}
plain=$(arena "$src/models/dsnet_int8.tflite")
least=$(arena "$src/models/dsnet_int8.tflite" --stripe auto)
[ "$least" -lt "$plain" ] || { echo "stripes save nothing: $least of $plain"; exit 1; }
[ "$(arena "$src/models/dsnet_int8.tflite" --stripe auto --budget "$plain")" -eq \
  "$(arena "$src/models/dsnet_int8.tflite" --overlap on)" ] || { echo "a budget that fits needs no stripes"; exit 1; }
[ "$(arena "$src/models/dsnet_int8.tflite" --stripe auto --budget "$least")" -le "$least" ]

"$arenac" plan "$src/models/dsnet_int8.tflite" --align 4 --budget "$least" 2>price >/dev/null && exit 1
grep -q "help: --stripe auto takes .* B$" price || { cat price; echo "the failure does not price stripes"; exit 1; }
"$arenac" plan "$src/models/dsnet_int8.tflite" --stripe auto >report
grep -q "works row by row, .* B between its operators: .*CONV_2D" report || { cat report; echo "the chain is not named"; exit 1; }

# Groups as the user lists them, by number and by name, and what is wrong with a list.
f=$src/models/dsnet_int8
"$arenac" plan "$f.tflite" --stripe 1-3,5-6 --align 4 >report
[ "$(grep -c "works row by row" report)" -eq 2 ] || { cat report; echo "two groups were given"; exit 1; }
tr -s '\n ' ' ' <report | grep -q "step 1 works row by row, [0-9,]* B between its operators: DEPTHWISE_CONV_2D, CONV_2D, DEPTHWISE_CONV_2D step 3"
"$arenac" run -q "$f.tflite" -t generic --stripe 1-3,5-6 --align 4 --poison --backend c --input "0=$f.in0.0.npy" --compare "0=$f.out0.0.npy"
for list in , 3-2 0-99 nobody 1-3,3-4 11-12; do
    status=0
    "$arenac" plan "$f.tflite" --stripe "$list" >/dev/null 2>message || status=$?
    [ $status -eq 2 ] && grep -q "E0501.*--stripe" message || { cat message; echo "--stripe $list: status $status"; exit 1; }
done
at_most() { # NAME BYTES OPTION...
    f=$shared/models/tflite/$1/$1.tflite
    [ -f "$f" ] || return 0
    name=$1 most=$2
    shift 2
    bytes=$(arena "$f" --stripe auto "$@")
    [ "$bytes" -le "$most" ] || { echo "$name: arena of $bytes bytes, expected at most $most"; exit 1; }
    "$arenac" plan -q "$f" --stripe auto --align 4 "$@" --emit problem,csv -o "$name"
    "$arenac" verify "$name.csv" "$name.problem.csv" >/dev/null
}
have_shared models || exit 0
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
