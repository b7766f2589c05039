#!/bin/sh
# arenac quantize: a model of floats and samples become a model of bytes, as ONNX and as text, with the same results;
# whatever is wrong with the samples has a message. usage: quantize.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
python3 "$src/tests/cli/quant/quantize_samples.py" "$models" || die "no samples"
net=$models/digits_f32.tflite
expect 0 '^4 of 4 products' "$arenac" quantize "$net" --data x.npy -o q.onnx
expect 0 '' "$arenac" quantize -q "$net" --data x.npz -o q.ag
[ -s q.onnx ] && [ -s q.ag ] || die "no model"
# the same bytes whatever the order, the locale and the archive
LC_ALL=de_DE.UTF-8 expect 0 '' "$arenac" quantize -q "$net" --data image=x.npy -o again.onnx
cmp -s q.onnx again.onnx || fail "another file of the same samples"
# products of bytes, in the plan and in both formats; a smaller arena than that of floats
for m in q.onnx q.ag; do
    expect 0 '4 products of dequantised bytes run by integer' "$arenac" plan "$m"
    expect 0 '' "$arenac" run -q "$m" --input 0=one180.npy --backend eval --output-dir "$m.out"
done
cmp -s q.onnx.out/0.npy q.ag.out/0.npy || fail "text and ONNX give other results"
[ "$(arena_bytes q.onnx)" -lt $(($(arena_bytes "$net") / 2)) ] || fail "the arena is not half of that of floats"
# outputs of bytes are those of ONNX Runtime: 199 of 200 equal, and none more than a step away
expect 0 '' "$arenac" quantize -q "$net" --data x.npy --quantized-io -o bytes.onnx
if ! "${ARENAC_ORT:-python3}" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then
    missing "ONNX Runtime" "onnx and onnxruntime from PyPI (ARENAC_ORT names their Python)"
else
    for i in $(seq 180 199); do
        "$arenac" run -q bytes.onnx --input 0="one$i.npy" --backend eval --output-dir "out$i" || fail "sample $i"
    done
    "${ARENAC_ORT:-python3}" "$src/tests/cli/quant/quantize_ort.py" bytes.onnx ||
        fail "other outputs than ONNX Runtime's"
fi
# what is kept stays as it is
expect 0 '^2 of 4 products' "$arenac" quantize "$net" --data x.npy --keep '*d1_1*' -o kept.onnx
expect 0 '' "$arenac" quantize -q "$net" --data x.npy --weights int4 -o four.onnx
[ "$(wc -c <four.onnx)" -lt "$(wc -c <q.onnx)" ] || fail "weights of four bits take as many bytes"
expect 0 '^0 of 4 products' "$arenac" quantize "$net" --data x.npy --activations int16 -o wide.onnx
# the report: accuracy, the worst tensors, JSON; a budget widens some tensors
expect 0 '^accuracy 100.00 %, of the model of floats 100.00 %' \
    "$arenac" quantize "$net" --data x.npz --labels y.npy -o l.onnx
expect 0 '^Worst for the outputs: .* dB alone' "$arenac" quantize "$net" --data x.npz -o l.onnx
expect 0 '"integer_products": 4' "$arenac" quantize "$net" --data x.npz --json -o l.onnx
python3 -c 'import json, sys; r = json.load(sys.stdin); assert len(r["rows"]) == 8, r' <out.txt || fail "JSON"
expect 0 ' 16 ' "$arenac" quantize "$net" --data x.npz --loss-budget 0.00062 -o budget.onnx
expect 2 'labels' "$arenac" quantize "$net" --data x.npz --labels few.npy -o e.onnx
# errors
expect 2 'needs samples' "$arenac" quantize "$net" -o e.onnx
expect 2 'file to write' "$arenac" quantize "$net" --data x.npy
expect 2 'writes .onnx or .ag' "$arenac" quantize "$net" --data x.npy -o e.tflite
expect 2 '4 samples are too few' "$arenac" quantize "$net" --data few.npy -o e.onnx
expect 2 'sample 179 .* not finite' "$arenac" quantize "$net" --data nan.npy -o e.onnx
expect 2 "'image' is f32 \[1,8,8,1\]" "$arenac" quantize "$net" --data wide.npy -o e.onnx
expect 2 "no input is called 'other'\|'other'" "$arenac" quantize "$net" --data other=x.npy -o e.onnx
expect 2 "twice" "$arenac" quantize "$net" --data x.npy --data image=x.npy -o e.onnx
expect 8 'quantised already' \
    "$arenac" quantize "$models/digits_int8.tflite" --data "$models/digits.test_x.npy" -o e.onnx
expect 8 'quantised already' "$arenac" quantize q.onnx --data x.npy -o e.onnx
[ ! -e e.onnx ] || fail "an output after an error"
head -c 3000 x.npz >cut.npz
expect 2 'not a usable .npz' "$arenac" quantize "$net" --data cut.npz -o e.onnx
