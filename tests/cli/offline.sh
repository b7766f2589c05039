#!/bin/sh
# Execution orders, and plans for TFLite Micro inside TFLite files. usage: offline.sh ARENAC SOURCE_DIR
# The last part runs TFLite Micro's Python package where it is installed (PYTHON names the interpreter).
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$*"; exit 1; }

# Four branches written layer by layer: all large tensors at once, 4 x 4096 bytes; one branch after the other needs one.
{
    echo 'graph branches {'
    echo '  input x: f32[16]'
    echo '  const n: i32[1] = [1024]'
    for i in 1 2 3 4; do echo "  const k$i: f32[1024,16] = random $i (-1, 1)"; done
    for i in 1 2 3 4; do echo "  const l$i: f32[4,1024] = random $i (-1, 1)"; done
    echo '  r = reshape(x) shape=[1,16]'
    for i in 1 2 3 4; do echo "  a$i = fully_connected(r, k$i)"; done
    for i in 1 2 3 4; do echo "  b$i = fully_connected(a$i, l$i)"; done
    echo '  y = concatenation(b1, b2, b3, b4) axis=1'
    echo '  output y'
    echo '}'
} >branches.ag
keep=$("$arenac" plan --json branches.ag | sed -n 's/.*"arena_bytes": \([0-9]*\).*/\1/p' | head -1)
"$arenac" plan --schedule search branches.ag >search.txt
grep -q "order: .* B less than the file's order" search.txt || fail "no bytes won"
"$arenac" plan --schedule search --json branches.ag >search.json
grep -q '"schedule": "search"' search.json
grep -q "\"file_order_arena_bytes\": $keep" search.json || fail "the file's order is not reported"
found=$(sed -n 's/.*"arena_bytes": \([0-9]*\).*/\1/p' search.json | head -1)
[ "$found" -lt 6000 ] && [ "$keep" -ge 16384 ] || fail "order: $keep -> $found"
"$arenac" plan --schedule search branches.ag | cmp - search.txt
"$arenac" plan --schedule search --emit problem,csv -o b branches.ag -q
"$arenac" verify b.csv b.problem.csv
"$arenac" run --random 1 --output-dir o1 -q branches.ag
"$arenac" run --random 1 --output-dir o2 -q --schedule search branches.ag
cmp o1/0.npy o2/0.npy || fail "another order computes something else"
! "$arenac" plan --schedule best branches.ag 2>/dev/null || fail "unknown --schedule accepted"

# A plan goes in front of the old file, which stays as it is; our importer sees the same model; a second plan replaces the first.
for m in "$src"/models/*.tflite; do
    name=$(basename "$m" .tflite)
    "$arenac" plan "$m" --emit tflite -o p.tflite -q
    tail -c "$(wc -c <"$m")" p.tflite | tail -c +9 >tail.bin
    tail -c +9 "$m" | cmp - tail.bin || fail "$name: bytes changed"
    "$arenac" show --emit ag "$m" >1.ag
    "$arenac" show --emit ag p.tflite >2.ag
    cmp 1.ag 2.ag || fail "$name: another model"
    "$arenac" show p.tflite >show.txt
    grep -q '^stored plan (OfflineMemoryAllocation)' show.txt || fail "$name: no stored plan"
    "$arenac" plan p.tflite --emit tflite --planner none -o q.tflite -q
    "$arenac" show q.tflite >show2.txt
    [ "$(grep -c '^stored plan' show2.txt)" = 1 ]
    ! cmp -s show.txt show2.txt || fail "$name: the second plan is not the first"
    "$arenac" plan "$m" --reference tflm --emit problem,csv -o net -q
    "$arenac" verify net.csv net.problem.csv
done
"$arenac" plan "$src/models/digits_int8.tflite" --emit tflm-buffer-plan -o plan.h
echo '#include "plan.h"' >use.c
echo 'int entries(void) { return digits_int8_buffer_plan.buffer_count + digits_int8_buffer_plan.offset[0]; }' >>use.c
${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -c use.c

# What cannot be: another format, another verb, a damaged file.
expect() { want=$1; shift; status=0; "$@" >out.txt 2>err.txt || status=$?; [ $status = "$want" ] || { cat err.txt; fail "exit $status, not $want: $*"; }; }
expect 8 "$arenac" plan branches.ag --emit tflite -o x.tflite
expect 2 "$arenac" compile "$src/models/digits_int8.tflite" --emit tflite -o x.tflite
expect 2 "$arenac" compile "$src/models/digits_int8.tflite" --reference tflm
expect 2 "$arenac" plan "$src/models/digits_int8.tflite" --emit tflite,ag -o x
expect 4 "$arenac" plan "$src/models/digits_int8.tflite" --emit tflite --budget 16 -o x.tflite
size=$(wc -c <"$src/models/digits_int8.tflite")
for part in 5 50 95; do
    head -c $((size * part / 100)) "$src/models/digits_int8.tflite" >cut.tflite
    expect 1 "$arenac" plan cut.tflite --emit tflite -o x.tflite
done

# Transposed convolutions sum in 32 bits: the plan has room for that, so TFLM need not put the sums above everything.
models=$shared/models/tflite
if have_shared models/tflite/unet_d4_96_int8; then
    "$arenac" plan "$models/unet_d4_96_int8/unet_d4_96_int8.tflite" --reference tflm --json >unet.json
    bytes=$(sed -n 's/.*"arena_bytes": *\([0-9]*\).*/\1/p' unet.json | head -1)
    [ "$bytes" -gt 400000 ] || fail "unet_d4_96_int8: $bytes bytes leave no room for sums"
fi
"$arenac" plan "$src/models/digits_int8.tflite" --reference tflm --stripe auto 2>err.txt >out.txt
grep -q 'W0002.*--stripe is ignored' err.txt || fail "--stripe is ignored without a word"
expect 2 "$arenac" plan "$src/models/digits_int8.tflite" --emit tflite --mem a:1K -o x.tflite

python=${PYTHON:-python3}
"$python" -c 'import tflite_micro' 2>/dev/null || { missing tflite-micro "tflite-micro from PyPI"; exit 0; }
in_tflm() { # MODEL SAVED OPTION...
    m=$1 saved=$2
    shift 2
    [ -f "$m" ] || return 0
    "$arenac" plan "$m" --emit tflite "$@" -o p.tflite -q
    "$python" "$src/tests/tflm_run.py" "$m" p.tflite "$saved" 2>err.txt || { tail -5 err.txt; fail "$m in TFLite Micro"; }
}
for m in "$src"/models/*int8.tflite; do
    in_tflm "$m" -256 --schedule search
done
for m in kws_dscnn_int8 ic_resnet8_int8 person_detect_int8 unet_d4_96_int8; do
    in_tflm "$models/$m/$m.tflite" -256
done
in_tflm "$models/mobilenet_v1_025_96_int8/mobilenet_v1_025_96_int8.tflite" 18000
in_tflm "$models/vww_mobilenet_f32/vww_mobilenet_f32.tflite" 73000
in_tflm "$models/gru2_unrolled_f32/gru2_unrolled_f32.tflite" 0 --schedule search
