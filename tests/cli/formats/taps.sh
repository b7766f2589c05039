#!/bin/sh
# run --taps: results of every operator against stored marks; the first that differs is named.
# usage: taps.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
have_shared models || exit 77
public=$shared/models
check() { # DIR BACKEND LEAST: that many marks are found and right
    for model in "$1"/*.onnx "$1"/*.tflite; do
        [ -f "$model" ] || continue
        "$arenac" run "$model" --input 0="$1/input0_0.npy" --taps "$1/taps.json" --backend "$2" >out || die "$model"
        found=$(sed -n 's/^\([0-9]*\) of .* as stored, 0 differ.*/\1/p' out)
        [ "${found:-0}" -ge "$3" ] || die "$model: $found marks are right"
    done
}
check "$public/tflite/ic_resnet8_int8" eval 15
check "$public/onnx/mnist_cntk_opset8" eval 11
check "$public/tflite/hello_world_int8" c 3
# marks changed in two places: the first is named, exit 5
changed() { # DIR EXTENSION NUMBER PATTERN REPLACEMENT
    awk -v from="$4" -v to="$5" -v at="$3" '/"(op|node)":/ { if (n == at || n == at + 2) sub(from, to); n++ }
        { print }' "$1/taps.json" >taps.json
    expect 5 "operator $3 " "$arenac" run "$1"/*"$2" --input 0="$1/input0_0.npy" --taps taps.json --backend eval
    [ "$(grep -c 'expected\|bytes are others' out.txt)" -eq 2 ] || die "$1: not two lines"
}
changed "$public/tflite/ic_resnet8_int8" .tflite 3 '"crc32": [0-9]*' '"crc32": 77'
changed "$public/onnx/mnist_cntk_opset8" .onnx 2 '"first": .[^,]*' '"first": [9e9'
echo '[{"node": 1}]' >taps.json
expect 1 E0012 "$arenac" run "$public/onnx/mnist_cntk_opset8"/*.onnx --random 1 --taps taps.json --backend eval
