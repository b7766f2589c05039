#!/bin/sh
# Execution orders, and plans for TFLite Micro inside TFLite files. Single plans, and refusals: tests/golden/plan, cli
# and tflite. The last part runs TFLite Micro's Python package if it is installed (PYTHON names the interpreter). usage:
# offline.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

# Another order: the same outputs, a plan that is safe, the same plan every time.
m=$src/tests/golden/plan/order-search.ag
verified "$m" --schedule search
for k in 1 2; do "$arenac" plan --schedule search "$m" >$k.txt; done
cmp 1.txt 2.txt
"$arenac" run --random 1 --output-dir keep -q "$m"
"$arenac" run --random 1 --output-dir search -q --schedule search "$m"
cmp keep/0.npy search/0.npy || die "another order computes something else"

# A plan goes in front of the old file, which stays as it is; our importer sees the same model; another one replaces it.
for m in "$models"/*.tflite; do
    name=$(basename "$m" .tflite)
    "$arenac" plan "$m" --emit tflite -o p.tflite -q
    tail -c "$(wc -c <"$m")" p.tflite | tail -c +9 >tail.bin
    tail -c +9 "$m" | cmp - tail.bin || die "$name: bytes changed"
    "$arenac" show --emit ag "$m" >1.ag
    "$arenac" show --emit ag p.tflite >2.ag
    cmp 1.ag 2.ag || die "$name: another model"
    "$arenac" show p.tflite >show.txt
    grep -q '^stored plan (OfflineMemoryAllocation)' show.txt || die "$name: no stored plan"
    "$arenac" plan p.tflite --emit tflite --planner none -o q.tflite -q
    "$arenac" show q.tflite >show2.txt
    [ "$(grep -c '^stored plan' show2.txt)" = 1 ]
    ! cmp -s show.txt show2.txt || die "$name: the second plan is not the first"
    verified "$m" --reference tflm
done
"$arenac" plan "$models/digits_int8.tflite" --emit tflm-buffer-plan -o plan.h
echo '#include "plan.h"' >use.c
echo 'int entries(void) { return digits_int8_buffer_plan.buffer_count + digits_int8_buffer_plan.offset[0]; }' >>use.c
${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -c use.c
expect 2 '' "$arenac" plan "$models/digits_int8.tflite" --emit tflite,ag -o x

# Transposed convolutions sum in 32 bits: the plan has room for that, so TFLM need not put the sums above everything.
public=$shared/models/tflite
if have_shared models/tflite/unet_d4_96_int8; then
    bytes=$(arena_bytes "$public/unet_d4_96_int8/unet_d4_96_int8.tflite" --reference tflm)
    [ "$bytes" -gt 400000 ] || die "unet_d4_96_int8: $bytes bytes leave no room for sums"
fi

python=${PYTHON:-python3}
"$python" -c 'import tflite_micro' 2>/dev/null || { missing tflite-micro "tflite-micro from PyPI"; exit 0; }
in_tflm() { # MODEL SAVED OPTION...
    m=$1 saved=$2
    shift 2
    [ -f "$m" ] || return 0
    "$arenac" plan "$m" --emit tflite "$@" -o p.tflite -q
    "$python" "$src/tests/tflm_run.py" "$m" p.tflite "$saved" 2>err.txt ||
        { tail -5 err.txt; die "$m in TFLite Micro"; }
}
for m in "$models"/*int8.tflite; do in_tflm "$m" -256 --schedule search; done
for m in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8 unet_d4_96_int8; do in_tflm "$public/$m/$m.tflite" -256; done
in_tflm "$public/mobilenet_v1_025_96_int8/mobilenet_v1_025_96_int8.tflite" 18000
in_tflm "$public/vww_mobilenet_f32/vww_mobilenet_f32.tflite" 73000
in_tflm "$public/gru2_unrolled_f32/gru2_unrolled_f32.tflite" 0 --schedule search
