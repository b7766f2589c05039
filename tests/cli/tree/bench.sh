#!/bin/sh
# bench/build.py: builds, measures and starts a model of this repository; its table has real figures, and a missed limit
# gives exit status 1. bench/beside.py: arenac's figures are those of its reports, the arena of ONNX Runtime is found.
# usage: bench.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require python3 python3 gcc gcc nm binutils
python3 "$src/bench/build.py" --arenac "$arenac" --target generic --work "$tmp" --starts 2 --kernels 2 \
    "$models/dsnet_f32.tflite" "$models/branch_int8.tflite" >out 2>&1 || { cat out; die "bench/build.py"; }
grep -q '^2 of 2 models measured, 0 limits missed' out || die "no summary"
some='[1-9][0-9]*' many='[1-9][0-9]{2,}' real='[0-9.]*[1-9][0-9.]*'
grep -Eq "^\| dsnet_f32 \| [0-9.]+ \| [0-9.]+ \| $many \| $some \| $some \| $real \| $real \| $many " out ||
    { cat out; die "the row has holes"; }
[ "$(grep -c ' B  net_' out)" = 4 ] || die "no kernels"
# the estimate of the report is that of the right kernels: within a factor of 2 of the code itself
bytes=$(awk -F'|' '/^\| dsnet_f32/ { print $5 + 0 }' out)
"$arenac" plan --json "$models/dsnet_f32.tflite" -t generic >json 2>/dev/null
python3 - json "$bytes" <<'P' || die "the estimate of code bytes"
import json, sys
r = json.load(open(sys.argv[1]))
total = r["model"]["code_bytes_estimate"]
steps = r["steps"]
assert all(s["code_bytes_estimate"] > 0 for s in steps), steps
assert 0 < total <= sum(s["code_bytes_estimate"] for s in steps)
assert 0.5 < total / float(sys.argv[2]) < 2, (total, sys.argv[2])
P
cp "$models/dsnet_f32.tflite" kws.tflite # known by name: has limits
sed -e 's/"kws": (20, 2, None, 3072)/"kws": (20, 2, None, 1)/' -e "s|^HERE = .*|HERE = \"$src/bench\"|" \
    "$src/bench/build.py" >b.py
expect 1 'KB resident, limit 1' python3 b.py --arenac "$arenac" --target generic --work "$tmp" --starts 1 kws.tflite

# beside.py on models of this repository, under names of its list
mkdir -p shared/models/tflite/kws_dscnn_int8 shared/models/onnx/resnet18_w12_112
cp "$models/dsnet_int8.tflite" shared/models/tflite/kws_dscnn_int8/kws_dscnn_int8.tflite
"$arenac" convert -q "$models/dsnet_f32.tflite" shared/models/onnx/resnet18_w12_112/resnet18_w12_112.onnx
beside() {
    python3 "$src/bench/beside.py" --arenac "$arenac" --shared shared --work "$tmp" --json beside.json "$@" \
        >beside.md 2>log.txt || { cat beside.md log.txt; die "bench/beside.py $*"; }
}
beside --peers ''
striped=$(arena_bytes "$models/dsnet_int8.tflite" --stripe auto)
python3 - beside.json "$(arena_bytes "$models/dsnet_int8.tflite")" "$striped" \
    "$(arena_bytes "$models/dsnet_f32.tflite")" <<'P' || fail "the figures of bench/beside.py"
import json, sys
int8, f32 = json.load(open(sys.argv[1]))
arena, stripe, float_arena = map(int, sys.argv[2:])
assert (int8["arena"], int8["stripe"], f32["arena"]) == (arena, stripe, float_arena), (int8, f32)
assert int8["tflm"] is None and int8["vela_size"] is None and f32["ort"] is None and not f32["tvm"]
P
grep -q '^| kws_dscnn_int8 | [0-9,]* | [0-9,]* | [0-9,]* | [0-9,]* | - | - | - |$' beside.md || fail "no row of figures"
if "${ARENAC_ORT:-python3}" -c "import numpy, onnxruntime" 2>/dev/null; then
    beside --peers ort --python "ort=${ARENAC_ORT:-$(command -v python3)}" --only resnet18
    python3 -c 'import json; r = json.load(open("beside.json"))[0]; assert r["arena"] // 4 < r["ort"] < 1 << 20, r' ||
        fail "the arena of ONNX Runtime"
else
    missing "ONNX Runtime" "onnx and onnxruntime from PyPI (ARENAC_ORT names their Python)"
fi
expect 0 'shared folder is missing' python3 "$src/bench/beside.py" --arenac "$arenac" --shared nowhere
[ $bad != 0 ] || echo "bench/build.py and bench/beside.py work"
