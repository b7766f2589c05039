#!/bin/sh
# TensorFlow graphs of models/ against references computed by numpy (models/make_tf.py), both forms, and the ways in:
# --outputs, open dimensions, a SavedModel directory. usage: tensorflow.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
for m in tf_rnn.pbtxt tf_cnn.pb; do
    stem=$src/models/${m%.*}
    for set in 0 1 2; do
        "$arenac" run -q "$src/models/$m" --backend eval --input x="$stem.in0.$set.npy" --compare y="$stem.out0.$set.npy" || fail "$m set $set"
    done
done
# inner nodes as outputs; what is behind them is not read
"$arenac" run -q "$src/models/tf_cnn.pb" --backend eval --input x="$src/models/tf_cnn.in0.0.npy" --outputs pool,conv --output-dir "$tmp" ||
    fail "--outputs"
[ -f "$tmp/1.npy" ] && [ ! -f "$tmp/2.npy" ] || fail "--outputs: not two outputs"
"$arenac" plan "$src/models/tf_cnn.pb" --dim x.0=1 --outputs pol 2>"$tmp/err" && fail "an unknown output was taken"
grep -q "did you mean 'pool'" "$tmp/err" || fail "no hint for an unknown output"
# a folder is the SavedModel in it: version 1, one graph
if have python3 python3; then
    python3 - "$src/models/tf_cnn.pb" "$tmp" <<'END' || fail "python3"
import sys
def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128]); v >>= 7
    return out + bytes([v])
graph = open(sys.argv[1], "rb").read()
meta = b"\x12" + varint(len(graph)) + graph
open(sys.argv[2] + "/saved_model.pb", "wb").write(b"\x08\x01\x12" + varint(len(meta)) + meta)
END
    "$arenac" run -q "$tmp" --backend eval --input x="$src/models/tf_cnn.in0.0.npy" --compare y="$src/models/tf_cnn.out0.0.npy" || fail "SavedModel"
fi
# an open dimension must be pinned
"$arenac" plan "$src/models/tf_cnn.pb" 2>"$tmp/err" && fail "an open dimension was taken"
grep -q -- "--dim x.0=N" "$tmp/err" || fail "no hint for an open dimension"
# a loop with a message: line numbers of the text form
sed 's/"Tanh"/"Tahn"/' "$src/models/tf_rnn.pbtxt" >"$tmp/bad.pbtxt"
status=0
"$arenac" check "$tmp/bad.pbtxt" 2>"$tmp/err" || status=$?
[ $status -eq 8 ] || fail "unsupported operator: exit $status"
grep -q "bad.pbtxt:[0-9]*:[0-9]* 'state' (Tahn): error\[E0107\]" "$tmp/err" || fail "its message: $(cat "$tmp/err")"
