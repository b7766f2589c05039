#!/bin/sh
# run --taps: results of every operator against stored marks; the first that differs is named. usage: taps.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
models=$shared/models
have_shared models || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/out" "$tmp/err"; exit 1; }
check() { # DIR BACKEND LEAST: that many marks are found and right
    for model in "$1"/*.onnx "$1"/*.tflite; do
        [ -f "$model" ] || continue
        "$arenac" run "$model" --input 0="$1/input0_0.npy" --taps "$1/taps.json" --backend "$2" >"$tmp/out" 2>"$tmp/err" || fail "$model"
        found=$(sed -n 's/^\([0-9]*\) of .* as stored, 0 differ.*/\1/p' "$tmp/out")
        [ "${found:-0}" -ge "$3" ] || fail "$model: $found marks are right"
    done
}
check "$models/tflite/ic_resnet8_int8" eval 15
check "$models/onnx/mnist_cntk_opset8" eval 11
check "$models/tflite/hello_world_int8" c 3
# marks changed in two places: the first is named, exit 5
changed() { # DIR EXTENSION NUMBER PATTERN REPLACEMENT
    awk -v from="$4" -v to="$5" -v at="$3" '/"(op|node)":/ { if (n == at || n == at + 2) sub(from, to); n++ } { print }' "$1/taps.json" >"$tmp/taps.json"
    status=0
    "$arenac" run "$1"/*"$2" --input 0="$1/input0_0.npy" --taps "$tmp/taps.json" --backend eval >"$tmp/out" 2>"$tmp/err" || status=$?
    [ $status -eq 5 ] || fail "$1: exit $status"
    grep -q "operator $3 " "$tmp/err" || fail "$1: the first is not $3"
    [ "$(grep -c 'expected\|bytes are others' "$tmp/out")" -eq 2 ] || fail "$1: not two lines"
}
changed "$models/tflite/ic_resnet8_int8" .tflite 3 '"crc32": [0-9]*' '"crc32": 77'
changed "$models/onnx/mnist_cntk_opset8" .onnx 2 '"first": .[^,]*' '"first": [9e9'
echo '[{"node": 1}]' >"$tmp/taps.json"
status=0
"$arenac" run "$models/onnx/mnist_cntk_opset8"/*.onnx --random 1 --taps "$tmp/taps.json" --backend eval >"$tmp/out" 2>"$tmp/err" || status=$?
{ [ $status -eq 1 ] && grep -q 'E0012' "$tmp/err"; } || fail "a list of something else: exit $status"
