#!/bin/sh
# `arenac ops` prints every row of every table of operators, docs/operators.md holds it, and its JSON is right.
# usage: ops.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
"$arenac" ops >ops
"$arenac" ops --emit md >md
sed -n '/^## Table$/,$p' "$src/docs/operators.md" >page
cmp md page || {
    diff page md | head -20
    die "docs/operators.md is not what the table says: replace all from '## Table' on by arenac ops --emit md"
}
# every row of every table is printed
tr -c 'A-Za-z0-9_\n' '\n' <ops | sort -u >words
sed -n 's/^OP( *[A-Z0-9_]*, *"\([a-z0-9_]*\)".*/\1/p' "$src/ir/ops/ops.def" >rows
if grep -v -x -F -f words rows; then die "these of ops.def are missing"; fi
for table in onnx/nodes tf/nodedefs caffe/layers mxnet/symbols tflite/operators; do
    sed -n -e 's/^\(ONX\|TFO\|CAF\|MX\)( *\([A-Za-z0-9_]*\),.*/\2/p' \
        -e 's/^\(TFL\|COMPOSED\)( *[0-9]*, *\([A-Z0-9_]*\),.*/\2/p' \
        "$src/import/$table.def" >rows
    [ "$(wc -l <rows)" -gt 50 ] || die "$table.def has no rows"
    if grep -v -x -F -f words rows; then die "these of $table.def are missing"; fi
done
# operators that become several: attributes, types and limits, by trying them
"$arenac" ops Conv Resize BatchNormalization >several
for words in 'auto_pad=NOTSET dilations=\[\] group=1 kernel_shape=\[\] pads=\[\] strides=\[\]' \
    'types       f32 f16 bf16 f64' 'operands    2..3' 'rank 3..8' 'becomes     .*conv_2d' \
    'coordinate_transformation_mode=half_pixel' 'epsilon=1e-05'; do
    grep -q "$words" several || { cat several; die "arenac ops does not say '$words'"; }
done
"$arenac" ops Conv --json >conv.json
"$arenac" ops --json >ops.json
have python3 python3 || exit 0
python3 - ops.json conv.json <<'EOF'
import json, sys
doc, conv = (json.load(open(f)) for f in sys.argv[1:])
assert not conv["operators"] and {r["name"] for rows in conv["formats"].values() for r in rows} == {"Conv"}, conv
conv = conv["formats"]["onnx"][0]
assert "f32" in conv["types"] and "i32" not in conv["types"] and conv["ranks"][0] == 3, conv
assert "conv_2d" in conv["becomes_some"] and "group=1" in conv["attributes"], conv
row = {r["name"]: r for r in doc["operators"]}
assert {"f32", "i32", "f64"} <= set(row["add"]["types"]), row["add"]
assert "bool" not in row["add"]["types"] and "i8" in row["add"]["quantised_types"], row["add"]
assert row["logical_and"]["types"] == ["bool"], row["logical_and"]
assert row["cumsum"]["constant_inputs"] == [1] and row["relu"]["in_place_inputs"] == [0]
assert row["conv_2d"]["ranks"] == [4] and row["conv_2d"]["quantised_types"] == ["i8", "i16", "u8"], row["conv_2d"]
assert row["fully_connected"]["weight_types"] == ["i8"] and row["scatter_nd"]["types"][0] == "f32"
assert sum(bool(r["types"]) for r in row.values()) >= 110, "most operators can be tried"
formats = doc["formats"]
assert set(formats) == {"tflite", "onnx", "tensorflow", "caffe", "mxnet", "pt2"}, set(formats)
onnx = {r["name"]: r for r in formats["onnx"] if not r.get("domain")} # the names are those of several domains
assert onnx["Softmax"]["becomes"] == "softmax" and onnx["Conv"]["supported"]
assert not onnx["RegexFullMatch"]["supported"] and onnx["RegexFullMatch"]["reason"]
assert all(r["supported"] != ("reason" in r) for rows in formats.values() for r in rows)
EOF
